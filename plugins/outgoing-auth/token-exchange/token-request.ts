import { type FaultCode, GatewayFault, type JsonObject } from '@toolmgr/core';
import { isBearerToken } from '../../shared/bearer-value.ts';
import type { Issued } from '../../shared/credential-cache.ts';
import { OauthRefusal } from '../../shared/oauth/library-options.ts';
import { type OauthEndpoint, requestToken } from '../../shared/oauth/oauth-requests.ts';
import { createRemoteHttp } from '../../shared/safe-http/remote-http.ts';
import { ACCESS_TOKEN, JWT, type TokenExchangeOptions } from './config.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'; // RFC 8693 §2.1
const TIMEOUT_MS = 10_000; // less than the default timeout of a call, 30 s
const MAX_ANSWER_BYTES = 64 * 1024;

/** A client of one token endpoint. A value is that of the `Authorization` header. */
export interface TokenRequests {
  /**
   * Exchanges a caller's token.
   * @throws GatewayFault AUTH_STRATEGY_REFUSED when the endpoint refuses the caller's token, AUTH_STRATEGY_FAILED
   * for other errors; neither contains a token, a secret or texts of the endpoint
   */
  exchange(subjectToken: string, backend: string): Promise<Issued<string>>;
  /**
   * A token of the gateway itself (client credentials); `undefined` when the endpoint issues none. Absent without a client
   * secret. @throws GatewayFault as `exchange`
   */
  readonly own: ((backend: string) => Promise<Issued<string> | undefined>) | undefined;
  /** Closes connections; pending requests fail. */
  close(): Promise<void>;
}

/** Creates the client, which connects on the first request. */
export function createTokenRequests(options: TokenExchangeOptions, clientSecret: string | undefined): TokenRequests {
  const { tokenUrl, audience, clientId, scopes, subjectTokenType } = options;
  const http = createRemoteHttp({
    allowPrivateAddresses: true,
    allowHttp: 'loopback',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const endpoint: OauthEndpoint = { url: tokenUrl, client: { id: clientId, secret: clientSecret }, http };
  const target = {
    ...(audience === undefined ? {} : { audience }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  const ask = async (
    grantType: string,
    form: Readonly<Record<string, string>>,
    backend: string,
  ): Promise<JsonObject | OauthRefusal> => {
    try {
      return await requestToken(endpoint, grantType, { ...form, ...target });
    } catch (cause) {
      throw fault('AUTH_STRATEGY_FAILED', backend, 'returned an invalid response', cause);
    }
  };
  return {
    async exchange(subjectToken, backend) {
      const form = {
        subject_token: subjectToken,
        subject_token_type: subjectTokenType,
        requested_token_type: ACCESS_TOKEN,
      };
      const issued = granted(await ask(GRANT, form, backend), backend);
      const type = issued.issued_token_type; // required: RFC 8693 §2.2.1
      if (type === ACCESS_TOKEN || type === JWT) return tokenFrom(issued, backend);
      throw fault('AUTH_STRATEGY_FAILED', backend, 'issued something that is not an access token');
    },
    own:
      clientSecret === undefined
        ? undefined
        : async (backend) => {
            const answer = await ask('client_credentials', {}, backend);
            if (answer instanceof OauthRefusal && NO_OWN_TOKEN_ERRORS.has(answer.error)) return undefined;
            return tokenFrom(granted(answer, backend), backend);
          },
    close: () => http.close(),
  };
}

/** Errors of an endpoint that issues no token to the gateway itself; lists are then read per caller. */
const NO_OWN_TOKEN_ERRORS: ReadonlySet<string | undefined> = new Set([
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'access_denied',
]);

function granted(answer: JsonObject | OauthRefusal, backend: string): JsonObject {
  if (!(answer instanceof OauthRefusal)) return answer;
  const { status, error = '', problem } = answer;
  const known = OAUTH_ERRORS.get(error);
  if (known !== undefined) throw fault(known[0], backend, `${known[1]} (${error})`);
  if (problem !== undefined) throw fault('AUTH_STRATEGY_FAILED', backend, `returned an invalid response: ${problem}`);
  throw fault('AUTH_STRATEGY_FAILED', backend, `answered with status ${status}`);
}

const SIGN_IN = "does not take the caller's token: the caller has to sign in again";

/** Only known error codes are logged. RFC 6749 §5.2, RFC 8693 §2.2.2: an invalid subject token is `invalid_request`. */
const OAUTH_ERRORS: ReadonlyMap<string, readonly [FaultCode, string]> = new Map([
  ['invalid_grant', ['AUTH_STRATEGY_REFUSED', SIGN_IN]],
  ['invalid_request', ['AUTH_STRATEGY_REFUSED', SIGN_IN]],
  ['access_denied', ['AUTH_STRATEGY_REFUSED', 'denies the caller a token for this backend']],
  ['invalid_target', ['AUTH_STRATEGY_FAILED', 'gives no token for the configured audience']],
  ['invalid_scope', ['AUTH_STRATEGY_FAILED', 'gives no token with the configured scopes']],
  ['invalid_client', ['AUTH_STRATEGY_FAILED', "does not take the gateway's client id and secret"]],
  ['unauthorized_client', ['AUTH_STRATEGY_FAILED', "does not grant this to the gateway's client"]],
  ['unsupported_grant_type', ['AUTH_STRATEGY_FAILED', 'does not know this grant']],
] as const);

function tokenFrom(issued: JsonObject, backend: string): Issued<string> {
  const { access_token: token, token_type: type, expires_in: seconds } = issued;
  if (type !== 'bearer') {
    throw fault('AUTH_STRATEGY_FAILED', backend, 'issued a token that is not a bearer token');
  }
  if (typeof token !== 'string' || !isBearerToken(token)) {
    throw fault('AUTH_STRATEGY_FAILED', backend, 'issued a token that is not a valid header value');
  }
  return { value: `Bearer ${token}`, lifetimeMs: lifetimeFrom(seconds) };
}

/** Converts seconds to whole milliseconds. */
function lifetimeFrom(seconds: JsonObject[string] | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const ms = Math.floor(Number(seconds) * 1000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0;
}

function fault(code: FaultCode, backend: string, sentence: string, cause?: unknown): GatewayFault {
  const message = `backend "${backend}": its token endpoint ${sentence}`;
  return new GatewayFault(code, message, cause === undefined ? undefined : { cause });
}
