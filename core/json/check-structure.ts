import type { RawJson } from '../contract/json.ts';
import { expectEnd, JsonScan, skipSpace, skipValue } from './json-scan.ts';

/**
 * Checks the structure and depth of a JSON value of any kind.
 * @throws RawJsonError; TooManyMembers and TooManyContainers over the bounds
 */
export function checkStructure(bytes: RawJson, maxMembers: number, maxContainers: number): void {
  expectEnd(bytes, skipValue(new JsonScan(bytes, maxMembers, maxContainers), skipSpace(bytes, 0)));
}
