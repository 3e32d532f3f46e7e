import { createLog, type Log } from '@toolmgr/core';

/** A log whose level follows the file while it is in use. */
export interface TunableLog extends Log {
  setLevel(level: 'debug' | 'info'): void;
}

/** Begins at `info`. Gateways keep the log they were given, so the level changes behind it. */
export function createTunableLog(write: (line: string) => void): TunableLog {
  let current = createLog('info', write);
  return {
    setLevel(level) {
      current = createLog(level, write);
    },
    debug: (message, fields) => current.debug(message, fields),
    info: (message, fields) => current.info(message, fields),
    warn: (message, fields) => current.warn(message, fields),
    error: (message, fields) => current.error(message, fields),
  };
}
