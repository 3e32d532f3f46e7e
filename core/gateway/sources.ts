import { setTimeout as delay } from 'node:timers/promises';
import type { Backend } from '../contract/backend.ts';
import type { BackendSource, ExpectedBackend, PushBackends } from '../contract/backend-source.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { type BackOff, backOffMs } from '../timing/back-off.ts';
import { within } from '../timing/within.ts';

/** The running backend sources of one gateway. */
export interface Sources {
  /** Resolves when every source has pushed once, or after `ms`. */
  first(ms: number): Promise<void>;
  /** Resolves when no source expects further backends, except failed ones, or after `ms`. */
  complete(ms: number): Promise<void>;
  /** Expected backends without a description. */
  expected(): readonly ExpectedBackend[];
}

/**
 * Runs every source and passes on each of its snapshots. A failed source is restarted with back-off; its last snapshot
 * is kept.
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
  const inTime = async (all: readonly Promise<void>[], ms: number): Promise<void> => {
    await within(ms, signal, Promise.all(all)).catch(() => {});
  };
  return {
    first: (ms) =>
      inTime(
        begun.map(({ first }) => first),
        ms,
      ),
    complete: (ms) =>
      inTime(
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
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await source.watch(push, signal);
      return;
    } catch (cause) {
      if (signal.aborted) return;
      const waitMs = backOffMs(attempt, RETRY);
      log.error('backend source failed; its last backends are kept', {
        source: name,
        cause: explainCause(cause),
        waitMs,
      });
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
