import { createLog, type Log } from '@toolmgr/core';

/** A log whose level can be changed. */
export interface AdjustableLog extends Log {
  setLevel(level: 'debug' | 'info'): void;
}

/** Starts at `info`. A gateway keeps its log object, so a reload changes the level of that object. */
export function createAdjustableLog(write: (line: string) => void): AdjustableLog {
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
