import { explainCause, type Log } from '@toolmgr/core';

/** Tells of an outage once when it begins, once a minute while it lasts, and when it is over: not once per request. */
export interface Outage {
  failed(cause: unknown): void;
  over(): void;
}

const REPEAT_MS = 60_000;

/** `what` is the subject of the sentences, e.g. `the keys of the identity provider`. */
export function createOutage(what: string, log: Log, now: () => number): Outage {
  let failures = 0;
  let toldAtMs = 0;
  return {
    failed(cause) {
      failures++;
      if (failures > 1 && now() - toldAtMs < REPEAT_MS) return;
      toldAtMs = now();
      log.warn(`${what} cannot be had`, { cause: explainCause(cause), failures });
    },
    over() {
      if (failures > 0) log.info(`${what} can be had again`, { failures });
      failures = 0;
    },
  };
}
