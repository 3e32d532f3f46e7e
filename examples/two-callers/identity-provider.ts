import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, Provider } from 'oidc-provider';

/** A client of the provider, and the claims of its tokens. */
export interface Agent {
  readonly name: string;
  readonly groups: readonly string[];
}

/** An OpenID provider with plain HTTP on loopback: real keys and tokens, no users. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** An access token for one of the agents, by the client credentials grant (RFC 6749 §4.4). */
  token(id: string): Promise<string>;
}

const ALG = 'ES256';

/** Starts a provider with these agents, by client id, that issues tokens for one audience. */
export async function identityProvider(
  agents: Readonly<Record<string, Agent>>,
  audience: string,
): Promise<IdentityProvider> {
  const server = createServer((request, response) => void provider.callback()(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, {
    clients: Object.keys(agents).map((id) => ({
      client_id: id,
      client_secret: secretOf(id),
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: ALG,
    })),
    jwks: { keys: [{ ...(privateKey.export({ format: 'jwk' }) as JWK), kid: 'story', alg: ALG, use: 'sig' }] },
    cookies: { keys: ['unused: no user logs in'] },
    extraTokenClaims: (_ctx, { clientId = '' }) => ({ ...agents[clientId] }),
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALG } },
        }),
      },
    },
  });
  return {
    issuer,
    token: (id) => fetchToken(issuer, id, audience),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function fetchToken(issuer: string, id: string, audience: string): Promise<string> {
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secretOf(id)}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`the provider gave ${id} no token: ${answer.status}`);
  return token;
}

function secretOf(id: string): string {
  return `secret-of-${id}`;
}
