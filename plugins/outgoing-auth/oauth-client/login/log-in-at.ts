import { GatewayFault, present } from '@toolmgr/core';
import { discoverServer, type OauthServer } from '@toolmgr/plugins/kit/oauth';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { oauthHttp, steadyAddresses } from '../oauth-http.ts';
import { type IssuedTokens, requestTokens, type TokenFailure } from '../token-request.ts';
import { authorize } from './authorize.ts';
import { openCallbackServer } from './callback-server.ts';

/** A public client of an OpenID provider. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Resource indicator (RFC 8707). */
  readonly resource?: string;
  /** Further parameters of the authorization request. */
  readonly extra?: Readonly<Record<string, string>>;
  readonly scopes: readonly string[];
}

/** What {@link logInAt} needs. */
export interface LoginAtProvider extends ProviderClient {
  /** Default: any free port. */
  readonly callbackPort?: number;
  readonly timeoutMs: number;
  /** Shows the URL that the user has to open. */
  show(login: { readonly url: string; readonly server: string }): void;
  now(): number;
  readonly signal: AbortSignal;
}

/**
 * Logs a user in at a provider with a configured client: discovery, and the authorization code grant with PKCE over a callback
 * on this machine.
 * @throws the signal's reason
 */
export async function logInAt(
  wanted: LoginAtProvider,
): Promise<{ readonly tokens: IssuedTokens } | { readonly problem: string }> {
  const { issuer, clientId, resource, extra, scopes, callbackPort = 0, timeoutMs, show, now, signal } = wanted;
  return withProvider(issuer, signal, async (http, server) => {
    await using callback = await openCallbackServer(callbackPort);
    if (callback === undefined) {
      return { problem: `port ${callbackPort} for the answer of the login is taken: end the program that has it` };
    }
    const attempt = await authorize({
      ...{
        http,
        server,
        client: { id: clientId, method: 'none' as const },
        callback,
        scopes,
        timeoutMs,
        show,
        now,
        signal,
      },
      ...present({ resource, extra }),
      lateAdvice: 'start it again',
    });
    return 'tokens' in attempt ? attempt : { problem: attempt.problem };
  });
}

/** New tokens for a refresh token. @throws the signal's reason */
export async function refreshAt(
  { issuer, clientId, resource }: ProviderClient,
  refreshToken: string,
  now: () => number,
  signal: AbortSignal,
): Promise<IssuedTokens | TokenFailure> {
  const answer = await withProvider(issuer, signal, async (http, { tokenUrl: url }) => {
    const endpoint = { url, client: { id: clientId, secret: undefined }, http };
    const form = { refresh_token: refreshToken };
    return requestTokens(
      resource === undefined ? endpoint : { ...endpoint, resource },
      'refresh_token',
      form,
      now,
      signal,
    );
  });
  if ('problem' in answer) return { isPermanent: false, reason: answer.problem };
  return answer;
}

async function withProvider<T>(
  issuer: string,
  signal: AbortSignal,
  act: (http: RemoteHttp, server: OauthServer) => Promise<T>,
): Promise<T | { readonly problem: string }> {
  const http = oauthHttp(await steadyAddresses([issuer]));
  try {
    const server = await discoverServer(http, issuer, { signal });
    if (server === undefined) return { problem: `the provider ${issuer} has no metadata at a well-known address` };
    return 'problem' in server ? { problem: server.problem } : await act(http, server);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof GatewayFault) return { problem: cause.message };
    throw cause;
  } finally {
    await http.close();
  }
}
