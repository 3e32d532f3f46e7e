import type { RawJson } from '../contract/json.ts';
import { RawObject } from '../json/raw-json.ts';

/** RFC 5424 severities as MCP spells them, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

/** A level of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a text is a known level. */
export function isLogLevel(level: unknown): level is LogLevel {
  return LOG_LEVELS.includes(level as LogLevel);
}

/** Whether a message of `level` reaches `threshold`; an unknown level always does. */
export function isWanted(level: string, threshold: string): boolean {
  const at = LOG_LEVELS.indexOf(level as LogLevel);
  return at === -1 || at >= LOG_LEVELS.indexOf(threshold as LogLevel);
}

/** Whether more messages reach the threshold `level` than reach `than`; every level does without `than`. */
export function isMoreVerbose(level: string, than: string | undefined): boolean {
  return than === undefined || LOG_LEVELS.indexOf(level as LogLevel) < LOG_LEVELS.indexOf(than as LogLevel);
}

/** Whether a `notifications/message` reaches the log level of its reader; without a level none does. */
export function isLogWanted(params: RawJson, threshold: string | undefined): boolean {
  if (threshold === undefined) return false;
  return isWanted(RawObject.parse(params).string('level') ?? '', threshold);
}
