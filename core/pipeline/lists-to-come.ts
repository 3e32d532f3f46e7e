import type { BackendManager } from '../backend/backend-manager.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { SessionOwner } from '../contract/client-context.ts';
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
