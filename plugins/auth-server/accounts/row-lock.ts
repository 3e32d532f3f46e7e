import { randomUUID } from 'node:crypto';
import type { AuthStorage } from '../storage/storage.ts';

/** Longer than a refresh with its writes, so that no other replica refreshes the same row meanwhile. */
export const LOCK_MS = 30_000;

/** A lock in the storage, which all replicas see. It ends by itself when its replica is killed. */
export interface RowLock {
  /** Ends it, unless it ended by itself and belongs to another replica now. */
  release(): Promise<void>;
}

/** Takes a lock; `undefined` while another holder has it. */
export async function takeLock(storage: AuthStorage, key: string): Promise<RowLock | undefined> {
  const owner = randomUUID();
  if (!(await storage.add(key, { owner }, LOCK_MS))) return undefined;
  return {
    async release() {
      const held = await storage.get(key);
      // compare and delete: there is no such method, and a record of one millisecond is as good
      if (held?.value.owner === owner) await storage.replace(key, held, { owner }, 1);
    },
  };
}
