import { GatewayFault } from '@toolmgr/core';
import {
  type Challenge,
  discoverServer,
  type OauthServer,
  type ResourceMetadata,
  requestResourceMetadata,
  resourceMetadataUrls,
} from '@toolmgr/plugins/kit/oauth';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { LoginSettings } from './login-settings.ts';
import type { ProbeResult } from './probe-remote.ts';

/** Where to log in. */
export interface FoundServer {
  readonly server: OauthServer;
  /** Resource indicator. */
  readonly resource: string;
  readonly scopes: readonly string[];
}

/** Why no login is possible. */
export interface LoginProblem {
  readonly problem: string;
}

/**
 * Finds the authorization server of a remote server: the configured one, that of its resource metadata, its `realm`, or the
 * one at its own origin. `undefined` when the server asks for no login.
 * Source: MCP 2026-07-28 authorization, RFC 9728; run command reference §7.1 and §7.2.
 * @throws GatewayFault REMOTE_REFUSED when a document leads to a forbidden address
 */
export async function findServer(
  http: RemoteHttp,
  remoteUrl: string,
  settings: LoginSettings,
  { isRefused, challenges }: ProbeResult,
  signal: AbortSignal,
): Promise<FoundServer | LoginProblem | undefined> {
  const challenge = challenges.find(({ scheme }) => scheme === 'bearer' || scheme === 'oauth');
  if (challenge === undefined && challenges.length > 0) return unsupported(challenges);
  const about = await aboutResource(http, remoteUrl, challenge, signal);
  if (about !== undefined && 'problem' in about) return about;
  const isWanted = isRefused || settings.isRequired || about !== undefined;
  if (!isWanted) return undefined;
  const server = await serverFor(http, remoteUrl, settings, challenge, about, signal);
  if ('problem' in server) return server;
  const resource = settings.resource ?? about?.resource ?? canonicalUrl(remoteUrl);
  return { server, resource, scopes: scopesFor(server, settings, challenge, about) };
}

async function aboutResource(
  http: RemoteHttp,
  remoteUrl: string,
  challenge: Challenge | undefined,
  signal: AbortSignal,
): Promise<ResourceMetadata | LoginProblem | undefined> {
  const named = challenge?.parameters.resource_metadata;
  const urls = named === undefined ? resourceMetadataUrls(remoteUrl) : [named];
  for (const url of urls) {
    try {
      const read = await requestResourceMetadata(http, url, remoteUrl, signal);
      return 'problem' in read ? { problem: `${plainUrl(url)} ${read.problem}` } : read;
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof GatewayFault)) throw cause;
      // a document that is only looked for may be missing
      if (named !== undefined) return { problem: cause.message };
    }
  }
  return undefined;
}

async function serverFor(
  http: RemoteHttp,
  remoteUrl: string,
  { issuer, authorizationUrl, tokenUrl }: LoginSettings,
  challenge: Challenge | undefined,
  about: ResourceMetadata | undefined,
  signal: AbortSignal,
): Promise<OauthServer | LoginProblem> {
  if (authorizationUrl !== undefined && tokenUrl !== undefined) {
    return { authorizationUrl, tokenUrl, sendsIssuer: false, takesMetadataUrls: false, isOidc: false, scopes: [] };
  }
  if (issuer !== undefined) return (await discoverServer(http, issuer, { signal })) ?? withoutMetadata(issuer);
  if (about !== undefined) return ofResource(http, about, signal);
  const realm = issuerFrom(challenge?.parameters.realm);
  const ofRealm = realm === undefined ? undefined : await discoverServer(http, realm, { signal });
  if (ofRealm !== undefined && !('problem' in ofRealm)) return ofRealm;
  const { origin } = new URL(remoteUrl);
  return (await discoverServer(http, origin, { adoptsIssuer: true, signal })) ?? { problem: NOT_FOUND };
}

/** The first authorization server that can be used. */
async function ofResource(
  http: RemoteHttp,
  { authorizationServers }: ResourceMetadata,
  signal: AbortSignal,
): Promise<OauthServer | LoginProblem> {
  let first: LoginProblem | undefined;
  for (const issuer of authorizationServers.slice(0, MAX_SERVERS)) {
    if (!URL.canParse(issuer)) continue;
    const found = (await discoverServer(http, issuer, { signal })) ?? withoutMetadata(issuer);
    if (!('problem' in found)) return found;
    first ??= found;
  }
  return first ?? { problem: 'the resource metadata of the server names no valid authorization server' };
}

const MAX_SERVERS = 4;

function withoutMetadata(issuer: string): LoginProblem {
  return { problem: `the authorization server ${plainUrl(issuer)} has no metadata at a well-known address` };
}

const NOT_FOUND =
  'the server asks for a login, but names no authorization server: give --remote-auth-bearer-token-file, or --remote-auth-issuer, or --remote-auth-authorize-url with --remote-auth-token-url';

function unsupported(challenges: readonly Challenge[]): LoginProblem {
  const schemes = challenges.map(({ scheme }) => scheme).join(', ');
  return { problem: `the server asks for authentication by ${schemes}, and only Bearer is supported` };
}

function issuerFrom(realm: string | undefined): string | undefined {
  const url = realm === undefined ? null : URL.parse(realm);
  return url?.protocol === 'https:' ? `${url.origin}${url.pathname}`.replace(/\/$/, '') : undefined;
}

/** RFC 8707 §2: without fragment; MCP: without a trailing slash. */
function canonicalUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, '')}${search}`;
}

function scopesFor(
  server: OauthServer,
  settings: LoginSettings,
  challenge: Challenge | undefined,
  about: ResourceMetadata | undefined,
): readonly string[] {
  if (settings.scopes !== undefined) return settings.scopes;
  const asked = challenge?.parameters.scope?.split(' ').filter((scope) => scope !== '');
  const scopes = asked ?? about?.scopes ?? (server.isOidc ? OIDC_SCOPES : []);
  // without it many servers issue no refresh token
  const wantsOffline = server.scopes.includes(OFFLINE) && !scopes.includes(OFFLINE);
  return wantsOffline ? [...scopes, OFFLINE] : scopes;
}

const OIDC_SCOPES = ['openid', 'profile', 'email'];
const OFFLINE = 'offline_access';
