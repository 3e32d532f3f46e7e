import { createHash } from 'node:crypto';
import { type Configuration, errors, type JWK, type KoaContextWithOIDC } from 'oidc-provider';
import type { Accounts } from '../accounts/accounts.ts';
import { createProviderAdapter } from '../storage/provider-adapter.ts';
import type { AuthStorage } from '../storage/storage.ts';
import { audienceRules } from './audience-rules.ts';
import { checkScopes } from './authorization-scopes.ts';
import { type ClientSource, clientAdapter } from './client-adapter.ts';
import type { TokenLifespans } from './config.ts';
import { grantOfRequest, ID_TOKEN_CLAIMS, interactionPolicy, type SignInNeeds } from './interaction-policy.ts';
import type { BrowserAnswer } from './interactions.ts';
import type { ServerSecrets } from './server-secrets.ts';
import { purposeKey } from './signed-texts.ts';

/** What the configuration of the OAuth library is made from. */
export interface OidcConfigurationParts {
  readonly issuer: string;
  /** Base URL of the pages and of the authorization endpoint, as browsers see it. */
  readonly browserBase: string;
  readonly allowedAudiences: readonly string[];
  readonly supportedScopes: readonly string[];
  readonly lifespans: TokenLifespans;
  readonly secrets: ServerSecrets;
  readonly storage: AuthStorage;
  readonly accounts: Accounts;
  readonly clients: ClientSource;
  readonly needs: SignInNeeds;
  /** A page that says why a request of a browser failed. */
  errorPage(status: number, code: string): BrowserAnswer;
}

/** Seconds in which a person signs in and consents. */
export const INTERACTION_SECONDS = 600;
/** Seconds since the last request after which a browser is signed out. */
export const BROWSER_SESSION_SECONDS = 8 * 3600;
/** Path of the sign-in pages, followed by `/` and the id of the interaction. */
export const SIGN_IN_PATH = '/oauth/sign-in';

/** Routes of the library, below the base URLs. */
export const LIBRARY_ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
} as const;

/** Makes the configuration of the OAuth library: authorization code and refresh only, no page of its own. */
export function oidcConfiguration(parts: OidcConfigurationParts): Configuration {
  const { lifespans, secrets, storage, accounts, clients, supportedScopes, needs, errorPage } = parts;
  const [signing] = secrets.signingKeys;
  const accessSeconds = seconds(lifespans.accessTokenLifespan);
  return {
    adapter: (kind) => (kind === 'Client' ? clientAdapter(clients) : createProviderAdapter(storage, kind)),
    jwks: { keys: secrets.signingKeys.map(({ privateJwk }) => privateJwk as JWK) },
    routes: { ...LIBRARY_ROUTES },
    scopes: [...supportedScopes],
    claims: ID_TOKEN_CLAIMS,
    conformIdTokenClaims: false, // there is no userinfo endpoint
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    enabledJWA: { idTokenSigningAlgValues: [...new Set(secrets.signingKeys.map(({ alg }) => alg))] },
    clientDefaults: { id_token_signed_response_alg: signing.alg },
    pkce: { required: () => true },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => true, // the endpoint checks origins and adds the headers
    findAccount: async (_ctx, id) => {
      const person = await accounts.person(id);
      return person && { accountId: id, claims: () => ({ sub: id, name: person.name, email: person.email }), person };
    },
    extraTokenClaims: (ctx, token) => ('accountId' in token ? personClaims(ctx, token) : undefined),
    interactions: {
      policy: interactionPolicy(needs),
      url: (_ctx, { uid }) => `${parts.browserBase}${SIGN_IN_PATH}/${uid}`,
    },
    loadExistingGrant: (ctx) => grantOfRequest(ctx, needs),
    extraParams: { toolmgr_scopes: (ctx) => checkScopes(ctx, supportedScopes) },
    cookies: cookieOptions(parts),
    renderError(ctx, { error }, cause) {
      const code = cause instanceof errors.SessionNotFound ? 'session_not_found' : error;
      const { status, headers, body } = errorPage(ctx.status, code);
      ctx.status = status;
      for (const [name, value] of Object.entries(headers)) ctx.set(name, [value].flat());
      ctx.body = body;
    },
    ttl: {
      AccessToken: accessSeconds,
      AuthorizationCode: seconds(lifespans.authCodeLifespan),
      Grant: seconds(lifespans.authCodeLifespan) + INTERACTION_SECONDS,
      IdToken: accessSeconds,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: seconds(lifespans.refreshTokenLifespan),
      Session: BROWSER_SESSION_SECONDS,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      introspection: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: false },
      resourceIndicators: {
        enabled: true,
        ...audienceRules(parts.allowedAudiences, supportedScopes, accessSeconds, signing),
      },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
  };
}

/** Claims besides those of RFC 9068: the session, who the person is, and the scopes as an array. */
function personClaims(ctx: KoaContextWithOIDC, token: object): Record<string, unknown> {
  const { grantId, scope } = token as { readonly grantId?: string; readonly scope?: string };
  const person = ctx.oidc.entities.Account?.person as { readonly name?: string; readonly email?: string } | undefined;
  return {
    ...(grantId === undefined ? {} : { tsid: grantId }),
    ...(person?.name === undefined ? {} : { name: person.name }),
    ...(person?.email === undefined ? {} : { email: person.email }),
    scp: scope === undefined || scope === '' ? [] : scope.split(' '),
  };
}

/**
 * Cookies of one issuer: several gateways on one host, e.g. on ports of this machine, do not share them. `__Host-` keeps other hosts
 * of the domain from signing a browser in as someone else.
 */
function cookieOptions({ issuer, browserBase, secrets }: OidcConfigurationParts): Configuration['cookies'] {
  const name = `toolmgr_${createHash('sha256').update(issuer).digest('hex').slice(0, 8)}`;
  const secure = browserBase.startsWith('https:');
  const shared = { signed: true, httpOnly: true, sameSite: 'lax', secure } as const;
  const session = `${secure ? '__Host-' : ''}${name}_session`; // the others have a path, which the prefix forbids
  return {
    keys: secrets.hmacSecrets.map((secret) => purposeKey(secret, 'cookies').export().toString('base64url')),
    names: { session, interaction: `${name}_interaction`, resume: `${name}_resume` },
    long: { ...shared, path: '/' },
    short: shared,
  };
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
