import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import type { JSONWebKeySet } from 'jose';
import { OauthRefusal } from '../oauth/library-options.ts';
import { requestMetadata } from '../oauth/oauth-requests.ts';
import { plainUrl, type RemoteHttp } from '../safe-http/remote-http.ts';

const MAX_KEYS = 100;
const KINDS = new Set(['RSA', 'EC', 'OKP']);

/** Where an issuer publishes its keys: at `jwksUrl`, else where its discovery document says. */
export interface IssuerPlace {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
}

/** Fetches the published keys. */
export type FetchKeys = (signal: AbortSignal) => Promise<JSONWebKeySet>;

/**
 * Fetches the keys of a provider from `jwksUrl`, or from the URL in its discovery document, which is fetched again after a
 * failure.
 *
 * Fails with REMOTE_REFUSED or REMOTE_UNAVAILABLE.
 * Source: OpenID Connect Discovery §4 (the issuer must match), RFC 8414 §3.1, RFC 7517.
 */
export function createFetchKeys(config: IssuerPlace, http: RemoteHttp): FetchKeys {
  let discovered: string | undefined;
  return async (signal) => {
    const url = config.jwksUrl ?? discovered ?? (await discover(config.issuer, http, signal));
    discovered = undefined;
    const keys = usableKeys(await http.getJson(url, signal), url);
    discovered = url;
    return keys;
  };
}

async function discover(issuer: string, http: RemoteHttp, signal: AbortSignal): Promise<string> {
  let missing: GatewayFault | undefined;
  for (const kind of ['oidc', 'oauth2'] as const) {
    const { place: url, answer } = await requestMetadata(http, issuer, kind, signal);
    if (!(answer instanceof OauthRefusal)) return jwksUriOf(answer, url);
    const { status, problem } = answer;
    const why = problem === undefined ? `answered with status ${status}, expected 200` : `${problem} (${issuer})`;
    const fault = unusable(url, why);
    if (status !== 404) throw fault;
    missing ??= fault;
  }
  throw missing;
}

function jwksUriOf(document: JsonObject, url: string): string {
  if (typeof document.jwks_uri === 'string') return document.jwks_uri;
  throw unusable(url, 'the document has no jwks_uri');
}

function unusable(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: ${why}`);
}

/** Public keys for signatures. Ignores shared secrets and published private keys. */
export function usableKeys(document: JsonObject, url: string): JSONWebKeySet {
  const keys = (Array.isArray(document.keys) ? document.keys : []).slice(0, MAX_KEYS).filter(isUsable);
  if (keys.length > 0) return { keys } as unknown as JSONWebKeySet;
  throw unusable(url, 'there is no public key for signatures');
}

function isUsable(key: unknown): boolean {
  if (!isObject(key) || typeof key.kty !== 'string' || !KINDS.has(key.kty)) return false;
  return key.d === undefined && (key.use === undefined || key.use === 'sig');
}
