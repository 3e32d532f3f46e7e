import { GatewayFault } from '@toolmgr/core';
import { authorizationRequest, readAuthorizationResponse } from '../../../shared/oauth/authorization-request.ts';
import { plainIssuer } from '../../../shared/oauth/oauth-requests.ts';
import { plainUrl, type RemoteHttp } from '../../../shared/safe-http/remote-http.ts';
import { oauthHttp, steadyAddresses } from '../oauth-http.ts';
import { type IssuedTokens, isFailure, requestTokens } from '../token-request.ts';
import { type CallbackServer, openCallbackServer } from './callback-server.ts';
import { clientsFor, type LoginClient, shownError } from './choose-client.ts';
import { type FoundServer, findServer } from './find-server.ts';
import type { CachedClient, LoginSettings } from './login-settings.ts';
import { type ProbeResult, probeRemote, type Remote } from './probe-remote.ts';

/** What {@link logIn} needs. */
export interface LoginWanted {
  readonly remote: Remote;
  readonly settings: LoginSettings;
  readonly cached: CachedClient | undefined;
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
  const found = await findServer(http, remote.url, settings, probed, signal);
  if (found === undefined) return { kind: 'not-needed' };
  if ('problem' in found) return failed(found.problem);
  const callback = await callbackFor(wanted);
  if ('problem' in callback) return failed(callback.problem);
  await using _ = callback;
  let last: Attempt | undefined;
  for (const choose of clientsFor({ ...wanted, http, found, callback })) {
    const client = await choose();
    if ('problem' in client) return failed(last === undefined ? client.problem : `${last.problem}; ${client.problem}`);
    const attempt = await authorize(wanted, http, found, client, callback);
    if ('tokens' in attempt) {
      const { issuer, tokenUrl } = found.server;
      const { resource } = found;
      return { kind: 'done', login: { ...attempt, issuer, tokenUrl, resource, client, callbackPort: callback.port } };
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

interface Attempt {
  readonly problem: string;
  /** Another client may be accepted. */
  readonly isClientRefused: boolean;
}

async function authorize(
  { settings, timeoutMs, show, now, signal }: LoginWanted,
  http: RemoteHttp,
  { server, resource, scopes }: FoundServer,
  client: LoginClient,
  callback: CallbackServer,
): Promise<{ readonly tokens: IssuedTokens } | Attempt> {
  const { redirectUri } = callback;
  const request = await authorizationRequest(server, {
    ...{ clientId: client.id, redirectUri, resource, scopes },
    ...(settings.scopeParameter === undefined ? {} : { scopeParameter: settings.scopeParameter }),
    ...(settings.extraParameters === undefined ? {} : { extra: settings.extraParameters }),
  });
  const late = AbortSignal.timeout(timeoutMs);
  const both = AbortSignal.any([signal, late]);
  try {
    const answered = callback.next(request.state, both);
    show({ url: request.url, server: plainIssuer(plainUrl(server.issuer ?? server.authorizationUrl)) });
    const { parameters, answer } = await answered;
    const outcome = readAuthorizationResponse(server, client.id, parameters, request.state);
    if (!('code' in outcome)) {
      answer('failed');
      return 'error' in outcome ? refusedBy(outcome.error) : misled(outcome.problem);
    }
    const { id, secret, method } = client;
    const endpoint = { url: server.tokenUrl, client: { id, secret, method }, http, resource };
    const form = { code: outcome.code, redirect_uri: redirectUri, code_verifier: request.verifier };
    const tokens = await requestTokens(endpoint, 'authorization_code', form, now, both);
    answer(isFailure(tokens) ? 'failed' : 'done');
    if (!isFailure(tokens)) return { tokens };
    return { problem: tokens.reason, isClientRefused: CLIENT_ERRORS.has(tokens.error ?? '') };
  } catch (cause) {
    signal.throwIfAborted();
    if (!late.aborted) throw cause;
    const problem = `the login was not finished within ${timeoutMs / 1000} s: give a longer --remote-auth-timeout`;
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

function failed(reason: string): LoginOutcome {
  return { kind: 'failed', reason };
}
