import { explainCause, type Log } from '@toolmgr/core';

/**
 * Logs promises that are rejected while nobody listens, until disposed of. Without it Node ends the process: one call's
 * mistake, in a plugin say, would end everybody's calls. The stack is logged too, since such a line is a bug to report.
 */
export function hearRejections(log: Pick<Log, 'error'>): Disposable {
  const hear = (cause: unknown): void =>
    log.error('a promise was rejected and nobody listened; the gateway goes on', {
      cause: explainCause(cause),
      ...(cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {}),
    });
  process.on('unhandledRejection', hear);
  return {
    [Symbol.dispose]() {
      process.off('unhandledRejection', hear);
    },
  };
}
