import { GatewayFault, type Log } from '@toolmgr/core';
import { unlessAborted } from '@toolmgr/plugins/kit/credentials';
import { type IssuedTokens, isFailure, type TokenFailure } from './token-request.ts';
import type { TokenStore } from './token-store.ts';

/** Whether requests can be authorized: now, probably later, or after a new login. */
export type TokenState = 'authenticated' | 'auth_retrying' | 'unauthenticated';

/** What {@link createRefreshedTokens} needs. */
export interface RefreshedTokensParts {
  readonly store: Omit<TokenStore, 'lacks'>;
  /** Sends the refresh token. Never rejects before `signal` aborts. */
  refresh(refreshToken: string, signal: AbortSignal): Promise<IssuedTokens | TokenFailure>;
  /** Called when the state changes. */
  changed(state: TokenState): void;
  /** What the user has to do when a new login is needed. */
  readonly logInAgain: string;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
  /** From 0 to 1; tests replace it. */
  random?(): number;
}

/** The tokens of one login: refreshes them before they expire, one request at a time, and keeps what it gets. */
export interface RefreshedTokens {
  /** The header value if the token is valid; otherwise `undefined`, and `obtain` waits for one. */
  current(): string | undefined;
  /** @throws GatewayFault AUTH_STRATEGY_FAILED when there is no valid token · the signal's reason */
  obtain(signal: AbortSignal): Promise<string>;
  /** The server refused the token with 401: returns whether another one is or will be available. */
  refused(): boolean;
  close(): void;
}

const EARLY_MS = 60_000; // a token is refreshed before its end, for latency and clock skew
const MAX_EARLY_SHARE = 0.2; // of the life of a short one
const JITTER = 0.25; // of the early time, so that many workloads do not refresh at once
const FRESH_MS = 5_000; // a refusal may be about the token that a newer one replaced
const RENEW_AGAIN_MS = 60_000; // a token that replaced a refused one is not replaced for another refusal before
const FIRST_RETRY_MS = 10_000;
const MAX_RETRY_MS = 120_000;
const QUICK_RETRIES = 5;
const SLOW_RETRY_MS = 600_000;
const GIVE_UP_MS = 24 * 3_600_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Reads the stored tokens and refreshes them from now on. @throws Error of the file system */
export async function createRefreshedTokens(parts: RefreshedTokensParts): Promise<RefreshedTokens> {
  const { store, logInAgain, log, now, random = Math.random } = parts;
  const ending = new AbortController();
  let { refreshToken, ...stored }: Partial<IssuedTokens> = await store.read();
  let token: Held | undefined =
    stored.accessToken === undefined ? undefined : held(stored.accessToken, stored.expiresAtMs, 0, false);
  let state: TokenState = 'authenticated';
  let reason = NO_TOKEN;
  let failures = 0;
  let failingSinceMs = 0;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const enter = (next: TokenState, why: string): void => {
    reason = why;
    if (state === next) return;
    state = next;
    if (next === 'authenticated') log.info('the remote server can be called again');
    else log.warn(next === 'auth_retrying' ? 'the access token could not be refreshed' : logInAgain, { reason: why });
    parts.changed(next);
  };
  const isValid = (): boolean => token !== undefined && now() < token.expiresAtMs;
  const after = (ms: number, act: () => void): void => {
    clearTimeout(timer);
    if (ending.signal.aborted) return;
    timer = setTimeout(act, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    timer.unref();
  };
  const refreshOnTime = (): void => {
    if (token === undefined || token.expiresAtMs === Number.POSITIVE_INFINITY) return;
    const lifeMs = token.expiresAtMs - now();
    const earlyMs = Math.min(EARLY_MS, lifeMs * MAX_EARLY_SHARE) * (1 + JITTER * random());
    if (refreshToken === undefined) after(lifeMs, () => enter('unauthenticated', EXPIRED));
    else after(lifeMs - earlyMs, () => void renew(false));
  };
  const giveUp = async (why: string): Promise<void> => {
    clearTimeout(timer);
    refreshToken = undefined;
    if (!isValid()) token = undefined;
    await store.forget().catch((cause: unknown) => log.warn('tokens could not be removed', { reason: `${cause}` }));
    if (token === undefined) enter('unauthenticated', why);
    else refreshOnTime();
  };
  const retryLater = (why: string, wasRefused: boolean): void => {
    failingSinceMs = failures === 0 ? now() : failingSinceMs;
    if (!isValid()) enter('auth_retrying', why);
    const delayMs = failures < QUICK_RETRIES ? Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS) : SLOW_RETRY_MS;
    failures++;
    log.debug('the access token is not refreshed yet', { reason: why, attempt: failures });
    after(delayMs * (1 + JITTER * random()), () => void renew(wasRefused));
  };
  const run = async (wasRefused: boolean): Promise<void> => {
    if (refreshToken === undefined) return giveUp(token === undefined ? NO_TOKEN : EXPIRED);
    const answer = await parts.refresh(refreshToken, ending.signal);
    if (!isFailure(answer)) {
      refreshToken = answer.refreshToken ?? refreshToken;
      await store.write(answer); // before it is used: a rotated refresh token is valid once
      token = held(answer.accessToken, answer.expiresAtMs, now(), wasRefused);
      failures = 0;
      enter('authenticated', '');
      return refreshOnTime();
    }
    const isOver = failures > 0 && now() - failingSinceMs > GIVE_UP_MS;
    if (answer.isPermanent || isOver) return giveUp(answer.reason);
    retryLater(answer.reason, wasRefused);
  };
  const renew = (wasRefused: boolean): Promise<void> => {
    running ??= run(wasRefused)
      .catch((cause: unknown) => {
        if (!ending.signal.aborted) retryLater(cause instanceof Error ? cause.message : `${cause}`, wasRefused);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const unavailable = (): GatewayFault => {
    const sentence = state === 'auth_retrying' ? 'the access token cannot be refreshed now' : logInAgain;
    return new GatewayFault('AUTH_STRATEGY_FAILED', reason === '' ? sentence : `${sentence}: ${reason}`);
  };

  refreshOnTime();
  return {
    current: () => (token !== undefined && now() < token.expiresAtMs ? token.header : undefined),
    async obtain(signal) {
      if (!isValid() && state === 'authenticated') await unlessAborted(renew(false), signal);
      else if (running !== undefined && !isValid()) await unlessAborted(running, signal);
      if (token !== undefined && isValid()) return token.header;
      throw unavailable();
    },
    refused() {
      if (running !== undefined) return true;
      if (token === undefined) return false;
      const ageMs = now() - token.madeMs;
      if (ageMs < FRESH_MS) return true;
      const isRefusedAgain = token.isRenewed && ageMs < RENEW_AGAIN_MS;
      if (refreshToken === undefined || isRefusedAgain) {
        token = undefined;
        void giveUp(REFUSED);
        return false;
      }
      token = undefined;
      void renew(true);
      return true;
    },
    close() {
      ending.abort();
      clearTimeout(timer);
    },
  };
}

interface Held {
  readonly header: string;
  /** Infinity when it is not known. */
  readonly expiresAtMs: number;
  /** 0: in an earlier process. */
  readonly madeMs: number;
  /** It replaced a token that the server refused. */
  readonly isRenewed: boolean;
}

function held(token: string, expiresAtMs: number | undefined, madeMs: number, isRenewed: boolean): Held {
  return { header: `Bearer ${token}`, expiresAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY, madeMs, isRenewed };
}

const NO_TOKEN = 'there is no token';
const EXPIRED = 'the access token has expired and there is no refresh token';
const REFUSED = 'the server refuses the access token';
