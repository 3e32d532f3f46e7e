import type { JsonObject, JsonValue } from '@toolmgr/core';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import type { UpstreamTokenSet } from './upstream.ts';

const MAX_TOKEN = 16 * 1024; // characters: the limit of common servers for one header
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1
const MAX_LIFETIME_S = 10 * 366 * 24 * 3600;

/** Members of a token response as the library expects them. Some providers send numbers as texts, lists, nulls and empty texts. */
export function standardMembers(body: JsonObject): JsonObject {
  const { access_token, token_type, expires_in, refresh_token, scope, id_token } = body;
  const members = {
    access_token,
    token_type,
    expires_in: secondsIn(expires_in),
    refresh_token: textIn(refresh_token),
    scope: textIn(Array.isArray(scope) ? scope.join(' ') : scope),
    id_token: textIn(id_token),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** What the tokens of an answer are completed with. */
export interface TokenContext {
  readonly clientId: string;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Requested scopes: an answer without `scope` granted all of them (RFC 6749 §5.1). */
  readonly scopes: readonly string[];
  /** What a refresh leaves out stays as it was. */
  readonly old?: UpstreamTokenSet;
}

/** The tokens of an answer, or why they cannot be used. */
export function tokensFrom(
  members: JsonObject,
  { clientId, nowMs, scopes, old }: TokenContext,
): UpstreamTokenSet | { readonly problem: string } {
  const access = textIn(members.access_token);
  if (access === undefined || access.length > MAX_TOKEN || !BEARER_TOKEN.test(access)) {
    return { problem: 'it has no access token that can be sent as a bearer token' };
  }
  const refreshToken = secretIn(members.refresh_token) ?? old?.refreshToken;
  const idToken = secretIn(members.id_token) ?? old?.idToken;
  const seconds = secondsIn(members.expires_in);
  const granted = textIn(members.scope);
  const scope = granted === undefined && old?.scope !== undefined ? old.scope : grantedScope(granted, scopes);
  return {
    accessToken: secretOf(access),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(idToken === undefined ? {} : { idToken }),
    ...(scope === undefined ? {} : { scope }),
    ...(seconds === undefined ? {} : { expiresMs: nowMs + Math.floor(seconds * 1000) }),
    clientId,
    ...(old?.idTokenSubject === undefined ? {} : { idTokenSubject: old.idTokenSubject }),
  };
}

/** GitHub and Slack separate scopes by commas, which RFC 6749 allows inside of a scope. */
function grantedScope(granted: string | undefined, requested: readonly string[]): string | undefined {
  if (granted === undefined) return requested.length === 0 ? undefined : requested.join(' ');
  const hasCommas = granted.includes(',') && !granted.includes(' ') && !requested.some((scope) => scope.includes(','));
  return hasCommas ? granted.split(',').filter(Boolean).join(' ') : granted;
}

function secretIn(value: JsonValue | undefined) {
  const text = textIn(value);
  return text === undefined ? undefined : secretOf(text);
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function secondsIn(value: JsonValue | undefined): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MAX_LIFETIME_S ? seconds : undefined;
}
