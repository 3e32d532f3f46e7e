import { createMemoryStorage } from './memory-storage.ts';
import type { AuthStorage } from './storage.ts';

interface Kept {
  readonly storage: AuthStorage;
  users: number;
}

/** By issuer. */
const kept = new Map<string, Kept>();

/**
 * The memory of one issuer in this process. A reload opens it again before the earlier gateway closes it, so that no one is
 * signed out; the last `close` forgets the records.
 */
export function openKeptMemoryStorage(issuer: string, now: () => number): AuthStorage {
  const known = kept.get(issuer) ?? { storage: createMemoryStorage(now), users: 0 };
  known.users += 1;
  kept.set(issuer, known);
  let isOpen = true;
  return {
    ...known.storage,
    async close() {
      if (!isOpen) return;
      isOpen = false;
      known.users -= 1;
      if (known.users > 0) return;
      kept.delete(issuer);
      await known.storage.close();
    },
  };
}
