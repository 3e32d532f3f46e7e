import { type Call, defineHook } from '@toolmgr/core';

/** A call was let through although its rate limit could not be checked. Reported by the rate-limit plugin. */
export interface LimitSkipped {
  readonly call: Call;
  /** What failed, in one line; not shown to callers. */
  readonly cause: string;
}

/** Called by the rate-limit plugin when its store fails. */
export const limitSkipped = defineHook<LimitSkipped>('limitSkipped', 'event');
