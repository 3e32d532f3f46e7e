import { GatewayFault, type JsonObject } from '@toolmgr/core';
import { OauthRefusal, requestToken } from '@toolmgr/plugins/kit/oauth';
import type { ClientCredentials } from '@toolmgr/plugins/kit/oauth/settings';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';

/** Tokens of a user. */
export interface IssuedTokens {
  readonly accessToken: string;
  /** Epoch milliseconds; absent when the response does not say. */
  readonly expiresAtMs?: number;
  readonly refreshToken?: string;
}

/** Why there are no tokens: a permanent refusal, or an error that may pass. The reason has no text of the server. */
export interface TokenFailure {
  readonly isPermanent: boolean;
  /** OAuth error code. */
  readonly error?: string;
  readonly reason: string;
}

/** A token endpoint with the client. */
export interface TokenEndpoint {
  readonly url: string;
  readonly client: ClientCredentials;
  readonly http: RemoteHttp;
  /** Resource indicator (RFC 8707). */
  readonly resource?: string;
}

/** Sends a grant to the token endpoint. Never rejects, except with the reason of `signal`. */
export async function requestTokens(
  { resource, ...endpoint }: TokenEndpoint,
  grantType: 'authorization_code' | 'refresh_token',
  parameters: Readonly<Record<string, string>>,
  now: () => number,
  signal: AbortSignal,
): Promise<IssuedTokens | TokenFailure> {
  const form = { ...parameters, ...(resource === undefined ? {} : { resource }) };
  try {
    const answer = await requestToken(endpoint, grantType, form, { signal });
    return answer instanceof OauthRefusal ? failureFrom(answer) : tokensFrom(answer, now());
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof GatewayFault)) throw cause;
    return { isPermanent: cause.code === 'REMOTE_REFUSED', reason: cause.message };
  }
}

/** Whether a value has no tokens. */
export function isFailure(given: IssuedTokens | TokenFailure): given is TokenFailure {
  return 'isPermanent' in given;
}

/** RFC 6749 §5.2. Other errors, e.g. `temporarily_unavailable`, may pass. */
const PERMANENT: Readonly<Record<string, string>> = {
  invalid_grant: 'does not accept the grant any more',
  invalid_client: 'does not accept the client',
  unauthorized_client: 'does not allow the client this grant',
  invalid_request: 'does not accept the request',
  invalid_scope: 'does not accept the scopes',
  invalid_target: 'does not issue tokens for this resource',
  unsupported_grant_type: 'does not support this grant',
  access_denied: 'denies access',
};

function failureFrom({ status, error = '', problem }: OauthRefusal): TokenFailure {
  const known = Object.hasOwn(PERMANENT, error) ? PERMANENT[error] : undefined;
  if (known !== undefined) return { isPermanent: true, error, reason: `the token endpoint ${known} (${error})` };
  if (problem !== undefined) return invalid(problem);
  return { isPermanent: false, reason: `the token endpoint answered with status ${status}` };
}

function invalid(problem: string): TokenFailure {
  return { isPermanent: false, reason: `the token endpoint returned an invalid response: ${problem}` };
}

function tokensFrom(body: JsonObject, nowMs: number): IssuedTokens | TokenFailure {
  const { access_token: token, token_type: type, expires_in: seconds, refresh_token: refreshToken } = body;
  if (type !== 'bearer') return invalid('the token is not a bearer token');
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(token)) {
    return invalid('the token cannot be sent in a header');
  }
  const lifeMs = Math.floor(Number(seconds) * 1000);
  return {
    accessToken: token,
    ...(seconds !== undefined && Number.isSafeInteger(lifeMs) ? { expiresAtMs: nowMs + Math.max(lifeMs, 0) } : {}),
    ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
  };
}

const MAX_TOKEN_LENGTH = 16 * 1024; // the limit of common servers for one header
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1
