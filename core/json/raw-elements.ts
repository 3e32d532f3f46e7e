import type { RawJson } from '../contract/json.ts';
import { RawJsonError, TooManyElements } from './json-errors.ts';
import { expectEnd, JsonScan, skipSpace, skipValue } from './json-scan.ts';

/**
 * The elements of a raw JSON array, undecoded. Each costs about a hundred bytes, so untrusted input is read with a
 * limit. @throws RawJsonError when `bytes` is not one array; TooManyElements over the limit
 */
export function rawElements(bytes: RawJson, maxElements: number): RawJson[] {
  const elements: RawJson[] = [];
  const scan = new JsonScan(bytes);
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) throw new RawJsonError('expected an array', at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_BRACKET) {
    for (;;) {
      const end = skipValue(scan, at);
      if (elements.length >= maxElements) throw new TooManyElements(maxElements, at);
      elements.push(bytes.subarray(at, end));
      at = skipSpace(bytes, end);
      if (bytes[at] === CLOSE_BRACKET) break;
      if (bytes[at] !== COMMA) throw new RawJsonError('expected , or ]', at);
      at = skipSpace(bytes, at + 1);
    }
  }
  expectEnd(bytes, at + 1);
  return elements;
}

const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
