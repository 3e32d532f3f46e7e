import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, Provider } from 'oidc-provider';

/** An OpenID provider on loopback, at which one person is signed in already. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
}

/** The person of a provider. */
export interface Account {
  readonly sub: string;
  readonly name: string;
}

/** The gateway as a client of the provider. */
export interface GatewayClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/** Starts a provider that knows one person and the gateway. Its access tokens are opaque: only it knows whose they are. */
export async function identityProvider(account: Account, client: GatewayClient): Promise<IdentityProvider> {
  const server = createServer((request, response) => {
    const isInteraction = request.url?.startsWith('/interaction/') === true;
    void (isInteraction ? approve(provider, account.sub, request, response) : provider.callback()(request, response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [client.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(privateKey.export({ format: 'jwk' }) as JWK), kid: 'story', alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [`cookies of ${account.sub}`] },
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => (id === account.sub ? { accountId: id, claims: () => ({ ...account }) } : undefined),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600 },
  });
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Signs the person in and grants what is requested, as a provider does where the person has a session. */
async function approve(provider: Provider, sub: string, request: IncomingMessage, response: ServerResponse) {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId: sub } });
  const grant = new provider.Grant({ accountId: sub, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope ?? ''));
  const consent = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, consent, { mergeWithLastSubmission: true });
}
