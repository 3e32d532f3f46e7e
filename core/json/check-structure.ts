import type { RawJson } from '../contract/json.ts';
import { expectEnd, JsonScan, skipSpace, skipValue } from './json-scan.ts';

/**
 * Checks the structure and depth of a JSON value of any kind.
 * @throws RawJsonError; TooManyMembers, TooManyContainers and TooManyValues over the bounds
 */
export function checkStructure(bytes: RawJson, maxMembers: number, maxContainers: number, maxValues: number): void {
  expectEnd(bytes, skipValue(new JsonScan(bytes, maxMembers, maxContainers, maxValues), skipSpace(bytes, 0)));
}
