import type { RawJson } from '../contract/json.ts';
import { RawObject } from '../json/raw-json.ts';
import { isWanted } from './log-levels.ts';

/** Whether a `notifications/message` reaches the log level of its reader; without a level none does. */
export function isLogWanted(params: RawJson, threshold: string | undefined): boolean {
  if (threshold === undefined) return false;
  return isWanted(RawObject.parse(params).string('level') ?? '', threshold);
}
