import { explainCause } from '@toolmgr/core';
import type { ControllerLog } from './machinery/controller.ts';

/**
 * Logs errors that nothing caught until disposed, also those outside of a promise. Without it Node ends the process, so one object
 * could end the reconciles of all others; what a reconcile missed, the next one finds. A log that cannot be written ends the process.
 */
export function logUncaughtErrors(log: ControllerLog): Disposable {
  const logError = (cause: unknown): void => {
    if (cause === process.stderr.errored) process.exit(1);
    const stack = cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
    log.error('an error was not caught; the operator continues', { cause: explainCause(cause), ...stack });
  };
  process.on('uncaughtException', logError);
  return { [Symbol.dispose]: () => void process.off('uncaughtException', logError) };
}
