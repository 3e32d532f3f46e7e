/** One call as the page shows it: no arguments and no results, because they may be secret. */
export interface RecentCall {
  /** Grows by one with every call of this process. */
  readonly seq: number;
  /** The same for a call and the calls that it made (composite steps, scripts, `call_tool`). */
  readonly id: string;
  /** Made by another call with the same `id`. */
  readonly isInner: boolean;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly method: string;
  /** The name that the client used, and that of the backend when it differs. */
  readonly name: string;
  readonly original?: string;
  readonly backend: string;
  /** Subject or name of the caller. */
  readonly caller: string;
  /** `clientInfo` of the client, as `name version`. */
  readonly client?: string;
  readonly outcome: string;
  /** Why it was refused or failed: what the client was told. */
  readonly detail?: string;
  readonly resultBytes: number;
}

/** Reads the last calls and the next ones. */
export interface CallReader {
  /** Oldest first. */
  recent(): readonly RecentCall[] | Promise<readonly RecentCall[]>;
  /**
   * The calls after `seq`, now and as they come, in batches. A reader that is too slow misses calls: `seq` shows the gap. Ends
   * when `signal` aborts.
   */
  follow(seq: number, signal: AbortSignal): AsyncGenerator<readonly RecentCall[]>;
}

/** The calls of a gateway. One feed serves all gateways that follow one another at a reload. */
export interface CallFeed extends CallReader {
  add(call: Omit<RecentCall, 'seq'>): void;
  recent(): readonly RecentCall[];
}

/** Calls that are kept. */
const MAX_CALLS = 500;
/** Milliseconds between batches, so that a reader gets at most 10 a second. */
const BATCH_MS = 100;

/** Creates an empty feed. `add` only stores: it runs on the request path. */
export function createCallFeed(maxCalls = MAX_CALLS): CallFeed {
  const calls: RecentCall[] = []; // a ring: the call `seq` is at `seq % maxCalls`
  const waiting = new Set<() => void>();
  let last = 0;
  const after = (seq: number): readonly RecentCall[] => {
    const first = Math.max(seq, last - maxCalls) + 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => calls[(first + at) % maxCalls]).filter(
      (call) => call !== undefined,
    );
  };
  return {
    add(call) {
      last += 1;
      calls[last % maxCalls] = { ...call, seq: last }; // calls of another feed have a number of that feed
      for (const wake of waiting) wake();
      waiting.clear();
    },
    recent: () => after(0),
    async *follow(seq, signal) {
      let sent = Math.min(seq, last);
      while (!signal.aborted) {
        const next = after(sent);
        if (next.length > 0) {
          sent = next.at(-1)?.seq ?? sent;
          yield next;
          await pause(BATCH_MS, signal);
        } else await untilAdded(waiting, signal);
      }
    },
  };
}

function untilAdded(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      waiting.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    waiting.add(done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
