import { type Core, LONGEST_TIMER_MS } from '@toolmgr/core';
import type { Monitor } from './monitor.ts';

/** A line about all backends, again and again. */
export interface Report {
  start(): void;
  stop(): void;
}

/** Makes the report of `statusReportingInterval`. Single changes have a line of their own when they happen. */
export function createReport({ log }: Pick<Core, 'log'>, monitor: Pick<Monitor, 'summary'>, everyMs: number): Report {
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      timer = setInterval(() => log.info('backends', monitor.summary()), Math.min(everyMs, LONGEST_TIMER_MS));
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
