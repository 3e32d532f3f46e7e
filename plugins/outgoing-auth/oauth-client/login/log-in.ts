import { GatewayFault, present } from '@toolmgr/core';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { oauthHttp, steadyAddresses } from '../oauth-http.ts';
import type { IssuedTokens } from '../token-request.ts';
import { type Attempt, authorize } from './authorize.ts';
import { type CallbackServer, openCallbackServer } from './callback-server.ts';
import { clientsFor, type LoginClient } from './choose-client.ts';
import { findServer } from './find-server.ts';
import type { CachedClient, LoginSettings } from './login-settings.ts';
import { type ProbeResult, probeRemote, type Remote } from './probe-remote.ts';

/** What {@link logIn} needs. */
export interface LoginWanted {
  readonly remote: Remote;
  readonly settings: LoginSettings;
  readonly cached: CachedClient | undefined;
  /** Requested besides: scopes of the last login, and those that the server has asked for since. */
  readonly furtherScopes?: readonly string[];
  /** Time for the user, from the moment when the URL is shown. */
  readonly timeoutMs: number;
  /** Shows the URL that the user has to open. */
  show(login: { readonly url: string; readonly server: string }): void;
  now(): number;
  readonly signal: AbortSignal;
}

/** A finished login. */
export interface Login {
  readonly tokens: IssuedTokens;
  /** Absent for configured endpoints. */
  readonly issuer: string | undefined;
  readonly tokenUrl: string;
  readonly resource: string;
  /** All that were requested. */
  readonly scopes: readonly string[];
  readonly client: LoginClient;
  readonly callbackPort: number;
}

/** How a login ended. A reason has no secret. */
export type LoginOutcome =
  | { readonly kind: 'done'; readonly login: Login }
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'failed'; readonly reason: string };

/** The callback port when none is configured. */
export const CALLBACK_PORT = 8666;

/**
 * Logs a user in at the authorization server of a remote server, if that server asks for it: discovery, registration, and the
 * authorization code grant with PKCE.
 * @throws the signal's reason
 */
export async function logIn(wanted: LoginWanted): Promise<LoginOutcome> {
  const { remote, settings, signal } = wanted;
  const addresses = await steadyAddresses([remote.url, settings.issuer, settings.tokenUrl]);
  const http = oauthHttp(addresses);
  try {
    const probed = await probeRemote(remote, signal, { lookup: addresses.lookup });
    return await logInAfter(wanted, http, probed);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof GatewayFault) return failed(cause.message);
    throw cause;
  } finally {
    await http.close();
  }
}

async function logInAfter(wanted: LoginWanted, http: RemoteHttp, probed: ProbeResult): Promise<LoginOutcome> {
  const { remote, settings, signal } = wanted;
  const first = await findServer(http, remote.url, settings, probed, signal);
  if (first === undefined) return { kind: 'not-needed' };
  if ('problem' in first) return failed(first.problem);
  const scopes = [...new Set([...first.scopes, ...(wanted.furtherScopes ?? [])])];
  const found = { ...first, scopes };
  const callback = await callbackFor(wanted);
  if ('problem' in callback) return failed(callback.problem);
  await using _ = callback;
  let last: Attempt | undefined;
  for (const choose of clientsFor({ ...wanted, http, found, callback })) {
    const client = await choose();
    if ('problem' in client) return failed(last === undefined ? client.problem : `${last.problem}; ${client.problem}`);
    const attempt = await authorize({
      ...{ http, server: found.server, client, callback, resource: found.resource, scopes },
      ...present({ scopeParameter: settings.scopeParameter, extra: settings.extraParameters }),
      ...{ timeoutMs: wanted.timeoutMs, show: wanted.show, now: wanted.now, signal },
      lateAdvice: 'give a longer --remote-auth-timeout',
    });
    if ('tokens' in attempt) {
      const { issuer, tokenUrl } = found.server;
      const { resource } = found;
      const login = { ...attempt, issuer, tokenUrl, resource, scopes, client, callbackPort: callback.port };
      return { kind: 'done', login };
    }
    if (!attempt.isClientRefused) return failed(attempt.problem);
    last = attempt;
  }
  return failed(last?.problem ?? 'there is no client to log in with');
}

/** A configured client or port must have its port; a client that is registered now can have any. */
async function callbackFor({ settings, cached }: LoginWanted): Promise<CallbackServer | { readonly problem: string }> {
  const { callbackPort, clientId } = settings;
  const port = callbackPort ?? cached?.port ?? CALLBACK_PORT;
  const opened = await openCallbackServer(port);
  if (opened !== undefined) return opened;
  if (callbackPort === undefined && clientId === undefined) {
    for (let tries = 0; tries < FREE_PORT_TRIES; tries++) {
      const other = await openCallbackServer(0);
      if (other !== undefined) return other;
    }
  }
  return {
    problem: `port ${port} for the answer of the login is taken: end the program that has it, or give another --remote-auth-callback-port`,
  };
}

const FREE_PORT_TRIES = 3; // a port may be free for IPv4 only

function failed(reason: string): LoginOutcome {
  return { kind: 'failed', reason };
}
