import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, type JWK, Provider } from 'oidc-provider';
import { mapAdapter } from './identity-store.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Options of a test's identity provider; each has a default. */
export interface IdentityProviderOptions {
  /** Users and the claims of their tokens. Default: `ada` in the group `admins`, `bob` in the group `staff`. */
  readonly users?: Readonly<Record<string, Claims>>;
  /** Audiences whose access tokens are opaque; all others get JWTs (RFC 9068). */
  readonly opaqueAudiences?: readonly string[];
  /** Signature algorithm of access tokens. */
  readonly alg?: Alg;
  /** Additional grant types of the client `gateway`, e.g. of RFC 8693. */
  readonly gatewayGrants?: readonly string[];
  /** Lifetime of access tokens. Default: one hour. */
  readonly accessTokenSeconds?: number;
  /** Scopes of access tokens, separated by spaces. Default: `tools`. */
  readonly resourceScopes?: string;
  /** Changes the configuration of every new provider, e.g. to turn a feature on. */
  readonly configure?: (configuration: Configuration) => Configuration;
  /** The login is a page with a form for the user's name, instead of `loginAs`. */
  readonly asksForUser?: boolean;
  /** Address to listen on, also in the issuer. Default: 127.0.0.1. */
  readonly host?: string;
  /** Called for every new provider, at the start and by `rotate`, e.g. to register a grant type. */
  readonly extend?: (provider: Provider) => void;
}

/** Algorithms for which the provider has a key. */
export type Alg = 'ES256' | 'RS256' | 'EdDSA';

/** Clients of the provider. */
export const CLIENTS = {
  /** Uses client credentials. */
  agent: { id: 'agent', secret: 'secret-of-agent' },
  /** The gateway: introspection, and the grants of `gatewayGrants`. */
  gateway: { id: 'gateway', secret: 'secret-of-gateway' },
  /** An app with users: authorization code with PKCE, no secret. */
  app: { id: 'app', redirectUri: 'http://127.0.0.1/callback' },
} as const;

/** `oidc-provider` with HTTP on loopback and real keys. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** `METHOD path` of every request so far. */
  readonly seen: string[];
  /** A user's access token as the authorization code grant issues it. */
  userToken(user: string, audience: string, scope?: string): Promise<string>;
  /** The access token of the client `agent` by client credentials over HTTP. */
  agentToken(audience: string): Promise<string>;
  /** Any JWT, signed with the current key. Defaults: issuer, `iat` now, `exp` in one hour; `claims` win. */
  sign(claims: Claims, header?: Claims): string;
  /** The public keys that are published now. */
  publicKeys(): readonly { readonly kid: string; readonly alg: Alg; readonly key: KeyObject }[];
  /** Signs with new keys from now on; with `keepOld: false` the old ones are no longer published. */
  rotate(keepOld?: boolean): void;
  /** Makes introspection report the tokens as inactive, and ends all grants. Clients stay registered. */
  revokeAll(): void;
  /** Refuses connections until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The user who logs in during the authorization code grant. */
  loginAs: string;
}

const USERS = {
  ada: { name: 'Ada', email: 'ada@example.com', groups: ['admins'] },
  bob: { name: 'Bob', email: 'bob@example.com', groups: ['staff'] },
} as const;

/** Starts a provider on a free port. */
export async function identityProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const { alg = 'ES256', host = '127.0.0.1' } = options;
  const seen: string[] = [];
  const store = new Map<string, unknown>();
  let keys = newKeys();
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://${host}:${port}`;
  let provider = make();

  function make(): Provider {
    const { configure = (same: Configuration) => same } = options;
    const made = new Provider(issuer, configure(configuration(options, alg, keys, store)));
    options.extend?.(made);
    return made;
  }

  function listen(on: number): Promise<Server> {
    const opening = createServer((request, response) => {
      seen.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
      if (request.url?.startsWith('/interaction/')) {
        void approve(provider, options.asksForUser ? undefined : self.loginAs, request, response);
      } else void provider.callback()(request, response);
    });
    return new Promise((resolve) => opening.listen(on, host, () => resolve(opening)));
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  const self: IdentityProvider = {
    issuer,
    seen,
    loginAs: 'ada',
    async userToken(user, audience, scope = 'tools') {
      const client = await provider.Client.find(CLIENTS.app.id);
      if (client === undefined) throw new Error('the provider does not know the client app');
      const grant = new provider.Grant({ accountId: user, clientId: client.clientId });
      grant.addResourceScope(audience, scope);
      const token = new provider.AccessToken({
        client,
        accountId: user,
        grantId: await grant.save(),
        gty: 'authorization_code',
        scope,
      });
      token.resourceServer = new provider.ResourceServer(audience, resourceServer(options, alg, audience));
      token.extra = { ...(options.users ?? USERS)[user as keyof typeof USERS] };
      return token.save();
    },
    async agentToken(audience) {
      const { id, secret } = CLIENTS.agent;
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience, scope: 'tools' }),
      });
      const body = (await answer.json()) as { readonly access_token?: string };
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
      return body.access_token;
    },
    sign(claims, header = {}) {
      const key = keys.find((each) => each.alg === alg);
      if (key === undefined) throw new Error(`no key for ${alg}`);
      const seconds = Math.floor(Date.now() / 1000);
      const body = { iss: issuer, iat: seconds, exp: seconds + 3600, jti: randomUUID(), ...claims };
      return signedJwt({ alg, typ: 'at+jwt', kid: key.kid, ...header }, body, key.privateKey);
    },
    publicKeys: () => keys.map(({ kid, alg: each, publicKey }) => ({ kid, alg: each, key: publicKey })),
    rotate(keepOld = true) {
      keys = keepOld ? [...newKeys(), ...keys] : newKeys();
      provider = make();
    },
    revokeAll() {
      for (const name of store.keys()) if (!name.startsWith('Client:')) store.delete(name);
    },
    pause: close,
    async resume() {
      server = await listen(port);
    },
    [Symbol.asyncDispose]: close,
  };
  return self;
}

/** A JWT with any header and claims, valid or not. Algorithms other than `ES256`, `RS256` and `EdDSA` are signed as RS256. */
export function signedJwt(header: Claims, claims: Claims, key: KeyObject): string {
  const text = `${base64url(header)}.${base64url(claims)}`;
  const hash = key.asymmetricKeyType === 'ed25519' ? undefined : 'sha256';
  const signature = sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** One part of a JWT. */
export function base64url(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

interface Key {
  readonly kid: string;
  readonly alg: Alg;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function newKeys(): Key[] {
  return [
    { kid: randomUUID(), alg: 'ES256', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
    { kid: randomUUID(), alg: 'RS256', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) },
    { kid: randomUUID(), alg: 'EdDSA', ...generateKeyPairSync('ed25519') },
  ];
}

function configuration(
  options: IdentityProviderOptions,
  alg: Alg,
  keys: readonly Key[],
  store: Map<string, unknown>,
): Configuration {
  const users: Readonly<Record<string, Claims>> = options.users ?? USERS;
  return {
    adapter: mapAdapter(store),
    clients: clients(options),
    jwks: {
      keys: keys.map((key) => ({
        ...(key.privateKey.export({ format: 'jwk' }) as JWK),
        kid: key.kid,
        alg: key.alg,
        use: 'sig',
      })),
    },
    cookies: { keys: ['cookie-key-of-a-test'] },
    scopes: ['openid', 'offline_access', 'tools'],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...users[id] }) }),
    extraTokenClaims: (_ctx, token) => ('accountId' in token ? users[String(token.accountId)] : undefined),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, client) => client.clientId === CLIENTS.gateway.id },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, audience) => resourceServer(options, alg, audience),
        useGrantedResource: () => true,
      },
    },
    ttl: { ...TTL_SECONDS, AccessToken: options.accessTokenSeconds ?? TTL_SECONDS.AccessToken },
  };
}

const TTL_SECONDS = {
  AccessToken: 3600,
  AuthorizationCode: 60,
  ClientCredentials: 3600,
  Grant: 3600,
  IdToken: 3600,
  Interaction: 600,
  RefreshToken: 3600,
  Session: 3600,
} as const;

function clients({ gatewayGrants = [] }: IdentityProviderOptions): NonNullable<Configuration['clients']> {
  const { agent, gateway, app } = CLIENTS;
  const program = { redirect_uris: [], response_types: [] };
  return [
    { ...program, client_id: agent.id, client_secret: agent.secret, grant_types: ['client_credentials'] },
    {
      ...program,
      client_id: gateway.id,
      client_secret: gateway.secret,
      grant_types: ['client_credentials', ...gatewayGrants],
    },
    {
      client_id: app.id,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [app.redirectUri],
      response_types: ['code'],
    },
  ];
}

function resourceServer({ opaqueAudiences = [], ...options }: IdentityProviderOptions, alg: Alg, audience: string) {
  const accessTokenTTL = options.accessTokenSeconds ?? TTL_SECONDS.AccessToken;
  const shape = { scope: options.resourceScopes ?? 'tools', audience, accessTokenTTL };
  if (opaqueAudiences.includes(audience)) return { ...shape, accessTokenFormat: 'opaque' as const };
  return { ...shape, accessTokenFormat: 'jwt' as const, jwt: { sign: { alg } } };
}

/** Logs the user in and grants the requested scopes, instead of a user's clicks. Without `user` a form asks for the name. */
async function approve(
  provider: Provider,
  user: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const name = user ?? (await sentUser(request));
    if (name === undefined) return void response.writeHead(200, { 'content-type': 'text/html' }).end(LOGIN_PAGE);
    return provider.interactionFinished(request, response, { login: { accountId: name } });
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? user ?? '', clientId: String(params.client_id) });
  const scope = String(params.scope ?? '');
  grant.addOIDCScope(scope);
  for (const resource of [params.resource].flat()) {
    if (typeof resource === 'string') grant.addResourceScope(resource, scope);
  }
  const consent = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, consent, { mergeWithLastSubmission: true });
}

const LOGIN_PAGE = `<!doctype html><html lang="en"><title>Provider</title><form method="post">
<label>User <input name="user"></label><button>Log in</button></form></html>`;

async function sentUser(request: IncomingMessage): Promise<string | undefined> {
  if (request.method !== 'POST') return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString()).get('user') ?? undefined;
}
