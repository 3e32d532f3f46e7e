import type { BackendManager } from '../backend/backend-manager.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { SessionOwner } from '../contract/client-context.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { LATE, within } from '../timing/within.ts';

/** What waiting for lists needs. */
export interface ListsToComeParts {
  readonly manager: Pick<BackendManager, 'listsToCome'>;
  readonly catalogs: Pick<Catalogs, 'catchUp'>;
  readonly limits: Pick<Limits, 'helloMs'>;
}

/**
 * Finds something that no list has yet but a list that is being read may have: looks again after each list that arrives,
 * for at most `limits.helloMs`. `undefined` when nothing is being read, or it has not come, or the call was cancelled.
 */
export function findWhenListed<T>(
  { manager, catalogs, limits }: ListsToComeParts,
  owner: SessionOwner,
  cancel: Cancellation,
  find: () => T | undefined,
): Promise<T | undefined> | undefined {
  const readings = manager.listsToCome(owner);
  return readings.length === 0 ? undefined : found(readings, catalogs, limits.helloMs, cancel, find);
}

async function found<T>(
  readings: readonly Promise<unknown>[],
  catalogs: Pick<Catalogs, 'catchUp'>,
  waitMs: number,
  { signal }: Cancellation,
  find: () => T | undefined,
): Promise<T | undefined> {
  const pending = new Set<Promise<unknown>>();
  for (const reading of readings) {
    const done: Promise<unknown> = reading.finally(() => pending.delete(done));
    pending.add(done);
  }
  const endMs = performance.now() + waitMs;
  while (pending.size > 0 && !signal.aborted) {
    const leftMs = endMs - performance.now();
    const ended = within(Math.max(0, leftMs), signal, Promise.race(pending)).catch(() => LATE); // cancelled
    if ((await ended) === LATE) return undefined;
    catalogs.catchUp();
    const value = find();
    if (value !== undefined) return value;
  }
  return undefined;
}

/** An owner that was prepared, or is being prepared. */
interface Preparation {
  /** Only where lists depend on the caller: an owner has what its client declared, and very many are kept. */
  readonly owner: SessionOwner | undefined;
  running: Promise<void> | undefined;
}

/**
 * Prepares the lists of owners that may differ from those of the base class: once per owner, and requests wait while
 * that takes. Lists that depend on the caller are prepared again when they were dropped or are old.
 */
export function createPreparations(
  manager: Pick<BackendManager, 'prepareOwner' | 'callerLists' | 'credentialsChanged'>,
  log: Log,
) {
  const known = new Map<string, Preparation>();
  const renewing = new Set<string>();
  const prepareOwner = (owner: SessionOwner): Promise<void> =>
    manager
      .prepareOwner(owner)
      .catch((cause: unknown) => log.warn('lists of a capability class are missing', { cause: explainCause(cause) }));
  const renew = (owner: SessionOwner): void => {
    if (renewing.has(owner.key)) return;
    renewing.add(owner.key);
    void prepareOwner(owner).then(() => renewing.delete(owner.key));
  };
  return {
    /** The running preparation; `undefined` when there is nothing to wait for. Owners of the base class need none. */
    of(owner: SessionOwner): Promise<void> | undefined {
      const before = known.get(owner.key);
      if (before !== undefined) {
        const { running } = before;
        if (running !== undefined || owner.listClass === undefined) return running;
        const lists = manager.callerLists(owner);
        if (lists === 'old') renew(owner);
        if (lists !== 'missing') return undefined;
      }
      const preparation: Preparation = {
        owner: owner.listClass === undefined ? undefined : owner,
        running: undefined,
      };
      const waiting = prepareOwner(owner).then(() => {
        preparation.running = undefined;
      });
      preparation.running = waiting;
      known.set(owner.key, preparation);
      if (known.size > MAX_WELCOMES) known.delete(known.keys().next().value ?? '');
      return waiting;
    },
    /** Backends may give these callers other lists now: reads those of their owners again. */
    credentialsChanged(concerns: (caller: Caller) => boolean): void {
      for (const { owner } of known.values()) {
        if (owner === undefined || !concerns(owner.caller)) continue;
        manager.credentialsChanged(owner);
        renew(owner);
      }
    },
    forget(ownerKey: string): void {
      known.delete(ownerKey);
    },
  };
}

const MAX_WELCOMES = 20_000; // a dropped owner is prepared again, which costs one look-up
