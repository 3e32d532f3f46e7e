import type { JsonObject } from '../contract/json.ts';
import type { Log } from './plugin.ts';

/** Levels of the gateway's own log, least severe first. */
export const LOG_NAMES = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** A level of {@link LOG_NAMES}. */
export type LogName = (typeof LOG_NAMES)[number];

/**
 * A log that writes one JSON object per line: `time`, `level`, `message`, then the fields. Lines below `level` cost one
 * comparison.
 */
export function createLog(level: LogName, write: (line: string) => void, now: () => number = Date.now): Log {
  const threshold = LOG_NAMES.indexOf(level);
  const at = (name: Exclude<LogName, 'silent'>) => {
    if (LOG_NAMES.indexOf(name) < threshold) return () => {};
    return (message: string, fields?: JsonObject) => {
      write(`${JSON.stringify({ time: new Date(now()).toISOString(), level: name, message, ...fields })}\n`);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The default: warnings and errors on stderr, separate from the output of the program. */
export function stderrLog(level: LogName = 'warn'): Log {
  return createLog(level, (line) => process.stderr.write(line));
}
