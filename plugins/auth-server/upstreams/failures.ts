import { GatewayFault } from '@toolmgr/core';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { UpstreamRefusal } from './upstream.ts';

/** How an answer counts that is no valid OAuth answer: as the provider's decision, or as an outage. */
export type InvalidAnswer = 'refusal' | 'fault';

/**
 * Runs requests of the library and turns its errors into refusals and faults. No message has a text of the provider, and no cause
 * is kept: the library's errors have the tokens.
 *
 * @throws UpstreamRefusal for a decision of the provider; GatewayFault for everything that may pass
 */
export async function translated<T>(upstream: string, invalid: InvalidAnswer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw translate(upstream, invalid, cause);
  }
}

/** An outage, or a mistake in the configuration: not the person's. */
export function providerFault(upstream: string, sentence: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `upstream ${upstream}: ${sentence}`);
}

function translate(upstream: string, invalid: InvalidAnswer, cause: unknown): Error {
  if (cause instanceof GatewayFault || cause instanceof UpstreamRefusal) return cause;
  if (cause instanceof AuthorizationResponseError) return callbackError(upstream, cause.error);
  if (cause instanceof ResponseBodyError) return tokenError(upstream, cause.error, cause.status);
  if (cause instanceof ClientError) {
    if (cause.cause instanceof GatewayFault) return cause.cause;
    const status = cause.cause instanceof Response ? cause.cause.status : undefined;
    if (status !== undefined) return providerFault(upstream, `answered with status ${status}`);
    if (cause.code === 'OAUTH_TIMEOUT' || cause.code === 'OAUTH_ABORT')
      return providerFault(upstream, 'did not answer');
  }
  const sentence = `its answer is invalid: ${sentenceOf(cause)}`;
  return invalid === 'fault'
    ? providerFault(upstream, sentence)
    : new UpstreamRefusal(upstream, 'invalid_response', sentence);
}

/** Only errors of the library itself have constant texts. */
function sentenceOf(cause: unknown): string {
  const inner = cause instanceof ClientError && cause.cause instanceof Error ? cause.cause : cause;
  const issuers = cause instanceof ClientError ? differentIssuers(cause.cause) : undefined;
  if (issuers !== undefined) return issuers;
  return inner instanceof Error && CONSTANT_TEXTS.has(inner.name) ? inner.message : 'it cannot be read';
}

/** Both issuers of a discovery document that names another one, which is a mistake of the configuration. */
function differentIssuers(given: unknown): string | undefined {
  const { attribute, expected, body } = (given ?? {}) as { attribute?: unknown; expected?: unknown; body?: unknown };
  if (attribute !== 'issuer' || typeof expected !== 'string') return undefined;
  const named = String((body as { issuer?: unknown } | undefined)?.issuer);
  const url = URL.parse(named);
  if (url === null || !PRINTABLE.test(named) || url.username !== '' || url.password !== '') {
    return `expected the issuer ${expected}, and its discovery document names another one`;
  }
  return `expected the issuer ${expected}, but its discovery document names ${named}; configure the issuer that it names`;
}

const PRINTABLE = /^[\x21-\x7e]{1,300}$/;

const CONSTANT_TEXTS: ReadonlySet<string> = new Set([
  'OperationProcessingError',
  'UnsupportedOperationError',
  'ClientError',
]);

/** `error` of the redirect. RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6. */
function callbackError(upstream: string, error: string): Error {
  if (PASSING.has(error)) return providerFault(upstream, `cannot sign people in now (${error})`);
  if (CALLBACK_CODES.has(error)) return new UpstreamRefusal(upstream, error, 'refused the sign-in');
  return new UpstreamRefusal(upstream, 'access_denied', 'refused the sign-in with an error code that is not standard');
}

/** `error` of a token endpoint. RFC 6749 §5.2. */
function tokenError(upstream: string, error: string, status: number): Error {
  if (PASSING.has(error) || status === 408 || status === 429) {
    return providerFault(upstream, `issues no tokens now (status ${status})`);
  }
  if (isClientError(error)) {
    return providerFault(
      upstream,
      `does not accept the gateway's client id and secret, or does not allow it this grant (${error})`,
    );
  }
  const code = GRANT_ALIASES.has(error) ? 'invalid_grant' : error;
  if (TOKEN_CODES.has(code)) return new UpstreamRefusal(upstream, code, 'issues no tokens for this sign-in');
  if (status !== 400) return providerFault(upstream, `answered with status ${status}`);
  return new UpstreamRefusal(upstream, 'invalid_response', 'issues no tokens, with an error code that is not standard');
}

/** Whether an error code is about the gateway as a client. */
export function isClientError(error: string): boolean {
  return CLIENT_CODES.has(error);
}

/** Whether the library failed with an error code of the token endpoint that `matches`. */
export function isTokenError(cause: unknown, matches: (error: string) => boolean): boolean {
  return cause instanceof ResponseBodyError && matches(cause.error);
}

const PASSING: ReadonlySet<string> = new Set([
  ...['server_error', 'temporarily_unavailable', 'slow_down'],
  ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'ratelimited', 'rate_limited'], // Slack
]);

const CALLBACK_CODES: ReadonlySet<string> = new Set([
  ...['invalid_request', 'unauthorized_client', 'access_denied', 'unsupported_response_type', 'invalid_scope'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required', 'invalid_target'],
]);

const CLIENT_CODES: ReadonlySet<string> = new Set([
  ...['invalid_client', 'unauthorized_client'],
  'incorrect_client_credentials', // GitHub
  ...['bad_client_secret', 'invalid_client_id'], // Slack
]);

const GRANT_ALIASES: ReadonlySet<string> = new Set([
  ...['bad_verification_code', 'bad_refresh_token'], // GitHub
  ...['invalid_code', 'code_already_used', 'invalid_refresh_token', 'token_expired', 'token_revoked'], // Slack
]);

const TOKEN_CODES: ReadonlySet<string> = new Set([
  ...['invalid_grant', 'invalid_request', 'invalid_scope', 'invalid_target', 'unsupported_grant_type', 'access_denied'],
  ...['interaction_required', 'login_required', 'consent_required'], // Entra
  'not_allowed', // Keycloak: the person has not the role offline_access
]);
