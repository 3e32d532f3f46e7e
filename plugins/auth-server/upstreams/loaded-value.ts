import { type createOutageLog, GatewayFault } from '@toolmgr/core';
import { waitFor } from './wait-for.ts';

/** A value that is loaded in the background and kept. */
export interface LoadedValue<T> {
  /**
   * The value; an outdated one is returned while it is loaded anew. Without a value it waits for one attempt.
   * @throws GatewayFault of the last attempt, or when `signal` ends before the attempt
   */
  get(signal: AbortSignal): Promise<T>;
  close(): void;
}

/** How a value is loaded. */
export interface Loading<T> {
  load(signal: AbortSignal): Promise<T>;
  readonly outage: ReturnType<typeof createOutageLog>;
  now(): number;
  /** What a message says when the caller's time ends. */
  readonly what: string;
}

const FRESH_MS = 3_600_000;
const ATTEMPT_MS = 20_000;
const FIRST_PAUSE_MS = 1_000; // doubles with every failure
const MAX_PAUSE_MS = 60_000;

/** Starts to load a value, again with growing pauses until it is there. Nothing waits for it but `get`. */
export function loadInBackground<T>({ load, outage, now, what }: Loading<T>): LoadedValue<T> {
  const closing = new AbortController();
  let kept: { readonly value: T; readonly atMs: number } | undefined;
  let failures = 0;
  let lastFailure: unknown;
  let lastAttemptMs = 0;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const attempt = (): Promise<void> => {
    running ??= attemptOnce().finally(() => {
      running = undefined;
    });
    return running;
  };
  const attemptOnce = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      const value = await load(AbortSignal.any([closing.signal, AbortSignal.timeout(ATTEMPT_MS)]));
      kept = { value, atMs: now() };
      failures = 0;
      outage.over();
    } catch (cause) {
      if (closing.signal.aborted) return;
      failures += 1;
      lastFailure = cause;
      outage.failed(cause);
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), MAX_PAUSE_MS);
      if (kept === undefined) timer = setTimeout(() => void attempt(), pause).unref();
    } finally {
      lastAttemptMs = now();
    }
  };
  void attempt();

  return {
    async get(signal) {
      if (kept !== undefined) {
        const pauseMs = failures > 0 ? MAX_PAUSE_MS : 0;
        if (now() - kept.atMs > FRESH_MS && now() - lastAttemptMs > pauseMs) void attempt();
        return kept.value;
      }
      // requests of many people are one attempt per second
      if (running !== undefined || now() - lastAttemptMs >= FIRST_PAUSE_MS) await waitFor(attempt(), signal, what);
      if (kept === undefined)
        throw lastFailure ?? new GatewayFault('GATEWAY_STOPPING', `${what}: the gateway is stopping`);
      return (kept as { readonly value: T }).value;
    },
    close() {
      closing.abort();
      clearTimeout(timer);
    },
  };
}
