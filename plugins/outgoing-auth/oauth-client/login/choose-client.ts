import { OauthRefusal, type RegisteredClient, registerClient } from '@toolmgr/plugins/kit/oauth';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import type { CallbackServer } from './callback-server.ts';
import type { FoundServer, LoginProblem } from './find-server.ts';
import type { CachedClient, LoginSettings } from './login-settings.ts';

/** The client of a login, and where it comes from. */
export interface LoginClient extends RegisteredClient {
  readonly from: 'settings' | 'cache' | 'metadata' | 'registration';
}

/** What clients can be made of. */
export interface ClientParts {
  readonly http: RemoteHttp;
  readonly found: FoundServer;
  readonly settings: LoginSettings;
  readonly cached: CachedClient | undefined;
  readonly callback: CallbackServer;
  now(): number;
  readonly signal: AbortSignal;
}

/**
 * The clients to try, best first: the configured one; else a cached one, a client metadata document, a new registration.
 * Source: MCP 2026-07-28, client registration approaches.
 */
export function clientsFor(parts: ClientParts): readonly (() => Promise<LoginClient | LoginProblem>)[] {
  const { settings, found, cached, callback } = parts;
  const { clientId: id, clientSecret, metadataUrl } = settings;
  if (id !== undefined) return [async () => configuredClient(id, clientSecret, found)];
  const clients: (() => Promise<LoginClient | LoginProblem>)[] = [];
  if (cached !== undefined && isUsable(cached, parts)) clients.push(async () => ({ ...cached, from: 'cache' }));
  if (metadataUrl !== undefined && found.server.takesMetadataUrls) {
    clients.push(async () => ({ id: metadataUrl, method: 'none', from: 'metadata' }));
  }
  clients.push(() => register(parts, callback));
  return clients;
}

function configuredClient(id: string, secret: string | undefined, { server }: FoundServer): LoginClient {
  if (secret === undefined) return { id, method: 'none', from: 'settings' };
  // RFC 8414 §2: client_secret_basic where the metadata does not say
  const { authMethods = ['client_secret_basic'] } = server;
  const isByForm = !authMethods.includes('client_secret_basic') && authMethods.includes('client_secret_post');
  return { id, secret, method: isByForm ? 'client_secret_post' : 'client_secret_basic', from: 'settings' };
}

/** Credentials of one issuer are never sent to another one, its redirect URI has the port, and it was registered for the scopes. */
function isUsable(
  { issuer, port, secretExpiresAtMs, scopes }: CachedClient,
  { found, callback, now }: ClientParts,
): boolean {
  const isAlive = secretExpiresAtMs === undefined || secretExpiresAtMs > now() + SECRET_SPARE_MS;
  const isWideEnough = scopes === undefined || found.scopes.every((scope) => scopes.includes(scope));
  return issuer === found.server.issuer && port === callback.port && isAlive && isWideEnough;
}

const SECRET_SPARE_MS = 3_600_000;

async function register(
  { http, found, signal }: ClientParts,
  { redirectUri }: CallbackServer,
): Promise<LoginClient | LoginProblem> {
  const { server } = found;
  if (server.registrationUrl === undefined) return { problem: NO_REGISTRATION };
  const scopes =
    server.scopes.length === 0 ? found.scopes : found.scopes.filter((each) => server.scopes.includes(each));
  const client = await registerClient(http, server, { redirectUri, scopes }, signal);
  if (!(client instanceof OauthRefusal)) return { ...client, from: 'registration' };
  const why = shownError(client.error) ?? client.problem ?? `status ${client.status}`;
  return { problem: `the authorization server does not register a client (${why}): give --remote-auth-client-id` };
}

const NO_REGISTRATION =
  'the authorization server registers no clients by itself: register one there and give --remote-auth-client-id, and --remote-auth-client-secret-file if it has a secret';

/** An error code of a server, if it looks like one. */
export function shownError(error: string | undefined): string | undefined {
  return error !== undefined && /^[\w.-]{1,64}$/.test(error) ? error : undefined;
}
