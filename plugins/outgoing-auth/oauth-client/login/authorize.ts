import {
  authorizationRequest,
  type OauthServer,
  plainIssuer,
  type RegisteredClient,
  readAuthorizationResponse,
} from '@toolmgr/plugins/kit/oauth';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import { type IssuedTokens, isFailure, requestTokens } from '../token-request.ts';
import type { CallbackServer } from './callback-server.ts';
import { shownError } from './choose-client.ts';

/** What {@link authorize} needs. */
export interface AuthorizeParts {
  readonly http: RemoteHttp;
  readonly server: OauthServer;
  readonly client: Pick<RegisteredClient, 'id' | 'secret' | 'method'>;
  readonly callback: CallbackServer;
  /** Resource indicator (RFC 8707). */
  readonly resource?: string;
  readonly scopes: readonly string[];
  /** Name of the parameter with the scopes. */
  readonly scopeParameter?: string;
  /** Further parameters of the authorization request. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Time for the user, from the moment when the URL is shown. */
  readonly timeoutMs: number;
  /** Shows the URL that the user has to open. */
  show(login: { readonly url: string; readonly server: string }): void;
  now(): number;
  readonly signal: AbortSignal;
  /** What to do when the time was too short. */
  readonly lateAdvice: string;
}

/** Why there are no tokens. */
export interface Attempt {
  readonly problem: string;
  /** Another client may be accepted. */
  readonly isClientRefused: boolean;
}

/** The authorization code grant with PKCE. @throws the signal's reason */
export async function authorize(parts: AuthorizeParts): Promise<{ readonly tokens: IssuedTokens } | Attempt> {
  const { http, server, client, callback, resource, scopes, timeoutMs, now, signal } = parts;
  const { redirectUri } = callback;
  const request = await authorizationRequest(server, {
    ...{ clientId: client.id, redirectUri, scopes },
    ...(resource === undefined ? {} : { resource }),
    ...(parts.scopeParameter === undefined ? {} : { scopeParameter: parts.scopeParameter }),
    ...(parts.extra === undefined ? {} : { extra: parts.extra }),
  });
  const late = AbortSignal.timeout(timeoutMs);
  const both = AbortSignal.any([signal, late]);
  try {
    const answered = callback.next(request.state, both);
    parts.show({ url: request.url, server: plainIssuer(plainUrl(server.issuer ?? server.authorizationUrl)) });
    const { parameters, answer } = await answered;
    const outcome = readAuthorizationResponse(server, client.id, parameters, request.state);
    if (!('code' in outcome)) {
      answer('failed');
      return 'error' in outcome ? refusedBy(outcome.error) : misled(outcome.problem);
    }
    const { id, secret, method } = client;
    const credentials = { id, secret, method };
    const endpoint = {
      url: server.tokenUrl,
      client: credentials,
      http,
      ...(resource === undefined ? {} : { resource }),
    };
    const form = { code: outcome.code, redirect_uri: redirectUri, code_verifier: request.verifier };
    const tokens = await requestTokens(endpoint, 'authorization_code', form, now, both);
    answer(isFailure(tokens) ? 'failed' : 'done');
    if (!isFailure(tokens)) return { tokens };
    return { problem: tokens.reason, isClientRefused: CLIENT_ERRORS.has(tokens.error ?? '') };
  } catch (cause) {
    signal.throwIfAborted();
    if (!late.aborted) throw cause;
    const problem = `the login was not finished within ${timeoutMs / 1000} s: ${parts.lateAdvice}`;
    return { problem, isClientRefused: false };
  }
}

const CLIENT_ERRORS: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

function refusedBy(error: string): Attempt {
  const shown = shownError(error) ?? 'an unknown error';
  return {
    problem: `the authorization server refuses the login: ${shown}`,
    isClientRefused: CLIENT_ERRORS.has(error),
  };
}

function misled(problem: string): Attempt {
  return { problem: `the answer of the authorization server is not valid: ${problem}`, isClientRefused: false };
}
