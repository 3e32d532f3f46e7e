import { type Core, LONGEST_TIMER_MS } from '@toolmgr/core';
import type { Monitor } from './monitor.ts';

/** A periodic log line about all backends. */
export interface SummaryLog {
  start(): void;
  stop(): void;
}

/** Creates the log of `statusReportingInterval`. Changes of a backend are also logged when they happen. */
export function createSummaryLog(
  { log }: Pick<Core, 'log'>,
  monitor: Pick<Monitor, 'summary'>,
  everyMs: number,
): SummaryLog {
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      timer = setInterval(() => log.info('backends', monitor.summary()), Math.min(everyMs, LONGEST_TIMER_MS));
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
