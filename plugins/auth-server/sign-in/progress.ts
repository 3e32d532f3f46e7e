import { GatewayFault } from '@toolmgr/core';
import { z } from 'zod';
import type { AuthStorage } from '../storage/storage.ts';

/** What is known about one authorization request that waits for a person. */
export type Progress = z.infer<typeof PROGRESS>;

const PROGRESS = z.object({
  /** `bindingHash` of the browser's cookie. */
  binding: z.string(),
  /** The person that the first provider named in this sign-in. */
  person: z.string().optional(),
  /** Providers that were connected in this sign-in. */
  connected: z.array(z.string()),
  /** Redirects to providers so far. */
  legs: z.number(),
  /** The person wants another account than the one that is signed in with this browser. */
  isOther: z.boolean(),
  /** The person allowed the client in this sign-in. */
  isAllowed: z.boolean().optional(),
  /** Why the sign-in ends without a person. */
  failure: z.object({ error: z.enum(['access_denied', 'server_error']), description: z.string() }).optional(),
});

/** Progress records of all sign-ins. */
export interface ProgressRecords {
  get(uid: string): Promise<Progress | undefined>;
  /** Begins anew, e.g. when the browser has lost its cookie. `before`: its redirects still count. */
  begin(uid: string, binding: string, before: Progress | undefined, isOther?: boolean): Promise<Progress>;
  /**
   * Changes a record, also when requests of two tabs do so at once. `change` returns `undefined` to leave it as it is.
   * Returns the record after it; `undefined` when there is none.
   */
  update(uid: string, change: (before: Progress) => Progress | undefined): Promise<Progress | undefined>;
  end(uid: string): Promise<void>;
}

/** How long a sign-in may take. */
export const SIGN_IN_MS = 60 * 60_000;

/** Creates the records on the storage of the authorization server. */
export function createProgressRecords(storage: AuthStorage): ProgressRecords {
  const keyOf = (uid: string): string => `sign-in:${uid}`;
  return {
    async get(uid) {
      const record = await storage.get(keyOf(uid));
      return record === undefined ? undefined : PROGRESS.parse(record.value);
    },
    async begin(uid, binding, before, isOther = false) {
      const progress = { binding, connected: [], legs: before?.legs ?? 0, isOther };
      await storage.set(keyOf(uid), progress, SIGN_IN_MS);
      return progress;
    },
    async update(uid, change) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const record = await storage.get(keyOf(uid));
        if (record === undefined) return undefined;
        const before = PROGRESS.parse(record.value);
        const after = change(before);
        if (after === undefined) return before;
        if (await storage.replace(keyOf(uid), record, after, SIGN_IN_MS)) return after;
      }
      throw new GatewayFault('STORE_UNAVAILABLE', `a sign-in was changed ${MAX_TRIES} times at once`);
    },
    end: (uid) => storage.delete(keyOf(uid)),
  };
}

const MAX_TRIES = 10;
