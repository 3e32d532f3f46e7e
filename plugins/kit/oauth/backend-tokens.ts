import { explainCause, GatewayFault, type JsonObject } from '@toolmgr/core';
import { isBearerToken } from '../credentials/bearer-value.ts';
import type { Issued } from '../credentials/credential-cache.ts';
import { createRemoteHttp } from '../safe-http/remote-http.ts';
import { OauthRefusal } from './library-options.ts';
import { type OauthEndpoint, requestToken } from './oauth-requests.ts';

const TIMEOUT_MS = 10_000; // less than the default timeout of a call, 30 s
const MAX_ANSWER_BYTES = 64 * 1024;

/** A token endpoint that issues credentials for backends, with the gateway as its client. */
export interface BackendTokens {
  /**
   * Requests a token. `tokenType`: a type besides `bearer` that the answer may have, lower case.
   * @throws GatewayFault AUTH_STRATEGY_REFUSED when the endpoint refuses the caller's token, AUTH_STRATEGY_FAILED for other
   * errors; neither contains a token, a secret or texts of the endpoint
   */
  request(
    grantType: string,
    form: Readonly<Record<string, string>>,
    backend: string,
    tokenType?: string,
  ): Promise<JsonObject>;
  /**
   * A token of the gateway itself (client credentials); `undefined` when the endpoint issues none.
   * @throws GatewayFault as `request`
   */
  own(form: Readonly<Record<string, string>>, backend: string): Promise<Issued<string> | undefined>;
  /** An error about the endpoint that names the backend. */
  fault(code: GatewayFault['code'], backend: string, sentence: string): GatewayFault;
  /** Closes connections; pending requests fail. */
  close(): Promise<void>;
}

/** What {@link createBackendTokens} needs. */
export interface BackendTokensParts {
  readonly url: string;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** Plain http: on this machine only (default), or anywhere. Private addresses are allowed: the operator chose the URL. */
  readonly allowHttp?: 'loopback' | 'anywhere';
  /** The endpoint in errors. Default: `token endpoint`. */
  readonly what?: string;
}

/** Creates the client, which connects on the first request. */
export function createBackendTokens(parts: BackendTokensParts): BackendTokens {
  const { url, clientId, clientSecret, allowHttp = 'loopback', what = 'token endpoint' } = parts;
  const http = createRemoteHttp({
    allowPrivateAddresses: true,
    allowHttp: allowHttp === 'anywhere' ? true : allowHttp,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const endpoint: OauthEndpoint = { url, client: { id: clientId, secret: clientSecret }, http };
  const fault = (code: GatewayFault['code'], backend: string, sentence: string, cause?: unknown): GatewayFault =>
    new GatewayFault(
      code,
      `backend "${backend}": its ${what} ${sentence}`,
      cause === undefined ? undefined : { cause },
    );
  const ask = async (
    grantType: string,
    form: Readonly<Record<string, string>>,
    backend: string,
    tokenType?: string,
  ): Promise<JsonObject | OauthRefusal> => {
    try {
      return await requestToken(endpoint, grantType, form, { tokenType });
    } catch (cause) {
      throw fault('AUTH_STRATEGY_FAILED', backend, sentenceOf(cause), cause);
    }
  };
  const granted = (answer: JsonObject | OauthRefusal, backend: string): JsonObject => {
    if (!(answer instanceof OauthRefusal)) return answer;
    const { status, error = '', problem } = answer;
    const known = OAUTH_ERRORS.get(error);
    if (known !== undefined) throw fault(known[0], backend, `${known[1]} (${error})`);
    if (problem !== undefined) throw fault('AUTH_STRATEGY_FAILED', backend, `returned an invalid response: ${problem}`);
    throw fault('AUTH_STRATEGY_FAILED', backend, `answered with status ${status}`);
  };
  return {
    async request(grantType, form, backend, tokenType) {
      return granted(await ask(grantType, form, backend, tokenType), backend);
    },
    async own(form, backend) {
      const answer = await ask('client_credentials', form, backend);
      if (answer instanceof OauthRefusal && NO_OWN_TOKEN_ERRORS.has(answer.error)) return undefined;
      return bearerFrom(granted(answer, backend), (sentence) => fault('AUTH_STRATEGY_FAILED', backend, sentence));
    },
    fault,
    close: () => http.close(),
  };
}

/**
 * The value of `Authorization` of an issued token.
 * @throws what `fault` makes when no header can carry the token
 */
export function bearerFrom(issued: JsonObject, fault: (sentence: string) => GatewayFault): Issued<string> {
  const { access_token: token, token_type: type, expires_in: seconds } = issued;
  if (type !== 'bearer') throw fault('issued a token that is not a bearer token');
  if (typeof token !== 'string' || !isBearerToken(token)) {
    throw fault('issued a token that is not a valid header value');
  }
  return { value: `Bearer ${token}`, lifetimeMs: lifetimeFrom(seconds) };
}

/** Errors of an endpoint that issues no token to the gateway itself; lists are then read per caller. */
const NO_OWN_TOKEN_ERRORS: ReadonlySet<string | undefined> = new Set([
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'access_denied',
]);

const SIGN_IN = "does not take the caller's token: the caller has to sign in again";

/** Why there is no answer: only the HTTP client's own failures have a cause, an answer that cannot be read has none. */
function sentenceOf(cause: unknown): string {
  if (!(cause instanceof GatewayFault)) return 'returned an invalid response';
  if (cause.code === 'REMOTE_REFUSED') return `may not be used: ${cause.message}`;
  return cause.cause === undefined ? 'returned an invalid response' : `did not answer (${explainCause(cause.cause)})`;
}

/** Only known error codes are logged. RFC 6749 §5.2, RFC 8693 §2.2.2: an invalid subject token is `invalid_request`. */
const OAUTH_ERRORS: ReadonlyMap<string, readonly [GatewayFault['code'], string]> = new Map([
  ['invalid_grant', ['AUTH_STRATEGY_REFUSED', SIGN_IN]],
  ['invalid_request', ['AUTH_STRATEGY_REFUSED', SIGN_IN]],
  ['interaction_required', ['AUTH_STRATEGY_REFUSED', 'wants the person to sign in or to consent there']],
  ['access_denied', ['AUTH_STRATEGY_REFUSED', 'denies the caller a token for this backend']],
  ['invalid_target', ['AUTH_STRATEGY_FAILED', 'gives no token for the configured audience']],
  ['invalid_scope', ['AUTH_STRATEGY_FAILED', 'gives no token with the configured scopes']],
  ['invalid_client', ['AUTH_STRATEGY_FAILED', "does not take the gateway's client id and secret"]],
  ['unauthorized_client', ['AUTH_STRATEGY_FAILED', "does not grant this to the gateway's client"]],
  ['unsupported_grant_type', ['AUTH_STRATEGY_FAILED', 'does not know this grant']],
] as const);

/** Converts seconds to whole milliseconds. */
function lifetimeFrom(seconds: JsonObject[string] | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const ms = Math.floor(Number(seconds) * 1000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0;
}
