import type { Backend } from '../contract/backend.ts';
import type { BackendSource, ExpectedBackend, PushBackends } from '../contract/backend-source.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';

/** The backend sources of one gateway, kept running. */
export interface Sources {
  /** Resolves when every source has pushed once, or after `ms`. */
  first(ms: number): Promise<void>;
  /** Resolves when every source has pushed a snapshot that expects nothing more but what has failed, or after `ms`. */
  complete(ms: number): Promise<void>;
  /** What sources expect and have not described yet. */
  expected(): readonly ExpectedBackend[];
}

/**
 * Runs every source and hands each of its snapshots on. A source that fails is started again with back-off; its last
 * snapshot stays.
 */
export function watchSources(
  sources: ReadonlyMap<string, BackendSource>,
  push: (source: string, snapshot: readonly Backend[]) => void,
  log: Log,
  signal: AbortSignal,
): Sources {
  const expectedOf = new Map<string, readonly ExpectedBackend[]>();
  let expected: readonly ExpectedBackend[] = [];
  const begun = [...sources].map(([name, source]) => {
    const first = Promise.withResolvers<void>();
    const complete = Promise.withResolvers<void>();
    const onSnapshot: PushBackends = (snapshot, stillExpected = []) => {
      if (signal.aborted) return;
      expectedOf.set(name, stillExpected);
      expected = [...expectedOf.values()].flat();
      push(name, snapshot);
      first.resolve();
      if (stillExpected.every(({ hasFailed }) => hasFailed === true)) complete.resolve();
    };
    void keepWatching(name, source, onSnapshot, log, signal).then(() => {
      first.resolve();
      complete.resolve();
    });
    return { first: first.promise, complete: complete.promise };
  });
  const within = async (all: readonly Promise<void>[], ms: number): Promise<void> => {
    const late = timer(ms, signal);
    await Promise.race([Promise.all(all), late.done]);
    late.clear();
  };
  return {
    first: (ms) =>
      within(
        begun.map(({ first }) => first),
        ms,
      ),
    complete: (ms) =>
      within(
        begun.map(({ complete }) => complete),
        ms,
      ),
    expected: () => expected,
  };
}

async function keepWatching(
  name: string,
  source: BackendSource,
  push: PushBackends,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await source.watch(push, signal);
      return;
    } catch (cause) {
      if (signal.aborted) return;
      const waitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt, 10));
      log.error('backend source failed, its last backends stay', { source: name, cause: explainCause(cause), waitMs });
      await timer(waitMs, signal).done;
    }
  }
}

const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 30_000;

/** Ends after `ms` or when the signal aborts; keeps no process alive. */
function timer(ms: number, signal: AbortSignal): { readonly done: Promise<void>; clear(): void } {
  let clear = (): void => {};
  const done = new Promise<void>((resolve) => {
    const handle = setTimeout(() => clear(), ms);
    handle.unref();
    clear = () => {
      clearTimeout(handle);
      signal.removeEventListener('abort', clear);
      resolve();
    };
    signal.addEventListener('abort', clear, { once: true });
    if (signal.aborted) clear();
  });
  return { done, clear };
}
