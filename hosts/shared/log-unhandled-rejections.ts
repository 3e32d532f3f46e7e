import { explainCause, type Log } from '@toolmgr/core';

/**
 * Logs unhandled promise rejections until disposed. Without it Node ends the process, so an error in one call, e.g. in a
 * plugin, would end all calls. The stack is logged too, because each such line is a bug to report.
 */
export function logUnhandledRejections(log: Pick<Log, 'error'>): Disposable {
  const logRejection = (cause: unknown): void =>
    log.error('unhandled promise rejection; the gateway continues', {
      cause: explainCause(cause),
      ...(cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {}),
    });
  process.on('unhandledRejection', logRejection);
  return {
    [Symbol.dispose]() {
      process.off('unhandledRejection', logRejection);
    },
  };
}
