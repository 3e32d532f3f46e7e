import { GatewayFault, type JsonObject } from '@toolmgr/core';
import { jsonFrom, plainUrl, type RemoteHttp, remoteUrlProblem } from '../safe-http/remote-http.ts';
import { plainIssuer } from './oauth-requests.ts';

/** An authorization server with what a client of the authorization code grant needs. */
export interface OauthServer {
  /** As its metadata has it; absent for endpoints that were configured one by one. */
  readonly issuer?: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly registrationUrl?: string;
  /** Its authorization responses have an `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
  /** It accepts URLs of client metadata documents as client ids. */
  readonly takesMetadataUrls: boolean;
  readonly isOidc: boolean;
  readonly scopes: readonly string[];
  /** Absent when the metadata does not say. */
  readonly authMethods?: readonly string[];
}

/** Why an authorization server cannot be used. */
export interface UnusableServer {
  readonly problem: string;
}

/**
 * Finds the metadata of an issuer by all well-known addresses; `undefined` when there is none. The issuer in it must be the
 * expected one, unless `adoptsIssuer`.
 * Source: RFC 8414 §3, OpenID Connect Discovery §4, MCP 2026-07-28 authorization.
 * @throws GatewayFault REMOTE_REFUSED when the rules of `http` forbid an address
 */
export async function discoverServer(
  http: RemoteHttp,
  issuer: string,
  { adoptsIssuer = false, signal }: { readonly adoptsIssuer?: boolean; readonly signal: AbortSignal },
): Promise<OauthServer | UnusableServer | undefined> {
  for (const url of metadataUrls(issuer)) {
    const body = await optionalJson(http, url, signal);
    if (body !== undefined) return serverFrom(body, adoptsIssuer ? undefined : issuer, plainUrl(url));
  }
  return undefined;
}

function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [`${origin}${OAUTH}${path}`, `${origin}${OIDC}${path}`, `${origin}${path}${OIDC}`];
  return [...new Set(places)];
}

/** @throws GatewayFault REMOTE_REFUSED */
async function optionalJson(http: RemoteHttp, url: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  try {
    return jsonFrom(await http.send(url, { headers: { accept: 'application/json' }, signal }), url);
  } catch (cause) {
    if (cause instanceof GatewayFault && cause.code === 'REMOTE_UNAVAILABLE') return undefined;
    throw cause;
  }
}

function serverFrom(body: JsonObject, expected: string | undefined, place: string): OauthServer | UnusableServer {
  const { issuer, authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = body;
  if (typeof issuer !== 'string') return { problem: `${place} has no "issuer"` };
  if (expected !== undefined && plainIssuer(issuer) !== plainIssuer(expected)) {
    return { problem: `${place} is about another issuer than ${plainUrl(expected)}` };
  }
  if (!isWebUrl(authorizationUrl)) return { problem: `${place} has no "authorization_endpoint" with https` };
  if (!isWebUrl(tokenUrl)) return { problem: `${place} has no "token_endpoint" with https` };
  // a server that does not say so does not check it: MCP 2026-07-28, authorization code protection
  if (!textsOf(body.code_challenge_methods_supported).includes('S256')) {
    return { problem: `${place} does not say that it supports PKCE with S256` };
  }
  const scopes = textsOf(body.scopes_supported);
  const authMethods = body.token_endpoint_auth_methods_supported;
  return {
    issuer,
    authorizationUrl,
    tokenUrl,
    ...(isWebUrl(body.registration_endpoint) ? { registrationUrl: body.registration_endpoint } : {}),
    sendsIssuer: body.authorization_response_iss_parameter_supported === true,
    takesMetadataUrls: body.client_id_metadata_document_supported === true,
    isOidc: place.includes(OIDC) || scopes.includes('openid'),
    scopes,
    ...(authMethods === undefined ? {} : { authMethods: textsOf(authMethods) }),
  };
}

/** An https URL, or http on this machine. Its address is checked when it is used. */
function isWebUrl(value: unknown): value is string {
  const rules = { allowPrivateAddresses: true, allowHttp: 'loopback' } as const;
  return typeof value === 'string' && remoteUrlProblem(value, rules) === undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

const OAUTH = '/.well-known/oauth-authorization-server';
const OIDC = '/.well-known/openid-configuration';
