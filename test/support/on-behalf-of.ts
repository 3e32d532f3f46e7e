import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { CLIENTS, type IdentityProvider, identityProvider } from './identity-provider.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Audience of assertions: the gateway's application. */
export const GATEWAY_APP = 'https://gateway.internal';
/** Audience of issued tokens. */
export const BACKEND_APP = 'https://graph.internal';

/** Requests of the on-behalf-of flow that a provider accepted. */
export interface OnBehalfOf extends AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly tokenUrl: string;
  readonly forms: Readonly<Record<string, unknown>>[];
}

/** An `oidc-provider` that knows the on-behalf-of flow of Microsoft Entra, verifies assertions and names the person in its tokens. */
export async function onBehalfOfProvider(): Promise<OnBehalfOf> {
  const forms: Readonly<Record<string, unknown>>[] = [];
  const provider = await identityProvider({
    gatewayGrants: [GRANT],
    configure: (configuration) => ({ ...configuration, extraTokenClaims: personOf }),
    extend: (made) => register(made, forms, () => provider),
  });
  return {
    provider,
    tokenUrl: `${provider.issuer}/token`,
    forms,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

/** The person of an assertion, in tokens that are issued for it. */
function personOf(ctx: KoaContextWithOIDC | undefined): { readonly oid: string | undefined } | undefined {
  const assertion = ctx?.oidc?.params?.assertion;
  return typeof assertion === 'string' ? { oid: decodeJwt(assertion).sub } : undefined;
}

function register(made: Provider, forms: Readonly<Record<string, unknown>>[], provider: () => IdentityProvider): void {
  made.registerGrantType(
    GRANT,
    async (ctx) => {
      const params = ctx.oidc.params ?? {};
      const { assertion, requested_token_use: use, scope } = params;
      if (use !== 'on_behalf_of') throw new errors.InvalidRequest('requested_token_use must be on_behalf_of');
      const keys = provider()
        .publicKeys()
        .map(({ kid, key }) => ({ ...key.export({ format: 'jwk' }), kid }));
      const options = { issuer: provider().issuer, audience: GATEWAY_APP };
      const verified = await jwtVerify(String(assertion), createLocalJWKSet({ keys }), options).catch(() => undefined);
      if (verified === undefined) throw new errors.InvalidGrant('the assertion is invalid');
      forms.push({ ...params });
      const { client } = ctx.oidc;
      if (client?.clientId !== CLIENTS.gateway.id) throw new errors.InvalidClient('unknown client');
      const token = new made.ClientCredentials({ client, scope: 'tools' });
      token.resourceServer = new made.ResourceServer(BACKEND_APP, {
        scope: 'tools',
        accessTokenFormat: 'jwt',
        accessTokenTTL: 3600,
        jwt: { sign: { alg: 'ES256' } },
      });
      ctx.body = { access_token: await token.save(), expires_in: token.expiration, token_type: 'Bearer', scope };
    },
    ['assertion', 'requested_token_use', 'scope', 'audience'],
  );
}
