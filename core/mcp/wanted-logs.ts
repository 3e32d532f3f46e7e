import type { RawJson } from '../contract/json.ts';
import { RawObject } from '../json/raw-json.ts';
import { isWanted } from './log-levels.ts';

/** Whether a `notifications/message` is at least as severe as its reader asked for; without a level nothing is. */
export function isLogWanted(params: RawJson, threshold: string | undefined): boolean {
  if (threshold === undefined) return false;
  return isWanted(RawObject.parse(params).string('level') ?? '', threshold);
}
