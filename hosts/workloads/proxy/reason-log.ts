import type { Log } from '@toolmgr/core';
import type { Wake } from '../../shared/wake.ts';

/** A log that remembers why a workload could not be started. */
export interface ReasonLog extends Log {
  /** The reason of the last error line that had one. */
  readonly reason: string | undefined;
  /** The exit code in the last error line that had one. */
  readonly exitCode: number | undefined;
}

/**
 * A workload that cannot be started has no backend with a cause, so the reason is taken from the error log. An error wakes who
 * waits for it.
 */
export function recordReasons(log: Log, wake: Wake): ReasonLog {
  let reason: string | undefined;
  let exitCode: number | undefined;
  return {
    ...log,
    error(message, fields) {
      if (typeof fields?.reason === 'string') reason = fields.reason;
      if (typeof fields?.exitCode === 'number') exitCode = fields.exitCode;
      log.error(message, fields);
      wake.now();
    },
    get reason() {
      return reason;
    },
    get exitCode() {
      return exitCode;
    },
  };
}
