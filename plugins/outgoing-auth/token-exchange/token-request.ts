import { type FaultCode, GatewayFault, type JsonObject } from '@toolmgr/core';
import { type OauthEndpoint, OauthRefusal, requestToken } from '../../shared/oauth/oauth-requests.ts';
import { createRemoteHttp } from '../../shared/safe-http/remote-http.ts';
import { ACCESS_TOKEN, isLoopback, JWT, type TokenExchangeOptions } from './config.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'; // RFC 8693 §2.1
const TIMEOUT_MS = 10_000; // under the 30 s that a call has by default
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_TOKEN_LENGTH = 16 * 1024; // what common servers take as one header
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1

/** A token as it was issued. */
export interface IssuedToken {
  /** Value of the `Authorization` header. */
  readonly header: string;
  /** Whole milliseconds; `undefined` when the endpoint does not say. */
  readonly lifetimeMs: number | undefined;
}

/** Speaks with one token endpoint as one client. */
export interface TokenRequests {
  /**
   * Exchanges a caller's token.
   * @throws GatewayFault AUTH_STRATEGY_REFUSED when the endpoint does not take the caller's token, AUTH_STRATEGY_FAILED
   * for everything else; neither holds a token, a secret or the endpoint's words
   */
  exchange(subjectToken: string, backend: string): Promise<IssuedToken>;
  /**
   * A token of the gateway's own (client credentials), `undefined` when the endpoint has none for it. The function is
   * there when there is a client secret. @throws GatewayFault as `exchange`
   */
  readonly own: ((backend: string) => Promise<IssuedToken | undefined>) | undefined;
  /** Requests under way fail. */
  close(): Promise<void>;
}

/** Makes the requests of one use of the strategy. Opens nothing before the first. */
export function createTokenRequests(options: TokenExchangeOptions, clientSecret: string | undefined): TokenRequests {
  const { tokenUrl, audience, clientId, scopes, subjectTokenType } = options;
  const http = createRemoteHttp({
    allowPrivateAddresses: true,
    allowHttp: isLoopback(tokenUrl),
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
      throw fault('AUTH_STRATEGY_FAILED', backend, 'gave no usable answer', cause);
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
            if (answer instanceof OauthRefusal && NONE_OF_ITS_OWN.has(answer.error)) return undefined;
            return tokenFrom(granted(answer, backend), backend);
          },
    close: () => http.close(),
  };
}

/** The endpoint knows the gateway and has no token for it in its own name: lists are then each caller's. */
const NONE_OF_ITS_OWN: ReadonlySet<string | undefined> = new Set([
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
  if (problem !== undefined) throw fault('AUTH_STRATEGY_FAILED', backend, `gave no usable answer: ${problem}`);
  throw fault('AUTH_STRATEGY_FAILED', backend, `answered with status ${status}`);
}

const SIGN_IN = "does not take the caller's token: the caller has to sign in again";

/** Only known words of an endpoint are repeated. RFC 6749 §5.2, RFC 8693 §2.2.2: a bad subject token is `invalid_request`. */
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

function tokenFrom(issued: JsonObject, backend: string): IssuedToken {
  const { access_token: token, token_type: type, expires_in: seconds } = issued;
  if (type !== 'bearer') {
    throw fault('AUTH_STRATEGY_FAILED', backend, 'issued a token that is no bearer token');
  }
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(token)) {
    throw fault('AUTH_STRATEGY_FAILED', backend, 'issued a token that no header can carry');
  }
  return { header: `Bearer ${token}`, lifetimeMs: lifetimeFrom(seconds) };
}

/** Whole milliseconds, for a number of seconds that the library has read. */
function lifetimeFrom(seconds: JsonObject[string] | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const ms = Math.floor(Number(seconds) * 1000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0;
}

function fault(code: FaultCode, backend: string, sentence: string, cause?: unknown): GatewayFault {
  const message = `backend "${backend}": its token endpoint ${sentence}`;
  return new GatewayFault(code, message, cause === undefined ? undefined : { cause });
}
