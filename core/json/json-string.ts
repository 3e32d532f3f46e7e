import type { RawJson } from '../contract/json.ts';
import { RawJsonError } from './json-errors.ts';
import { recurringText } from './recurring-text.ts';

/** The text of a string from its opening quote to behind its closing one: a member name, or a value that comes often. */
export function readString(bytes: RawJson, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string;
    if (byte > 0x7f) return readWideString(bytes, start, end);
  }
  return recurringText(bytes, start + 1, end - 1);
}

function readWideString(bytes: RawJson, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The position after the string that starts at `start`. @throws RawJsonError when it has no end */
export function skipString(bytes: RawJson, start: number): number {
  let at = start + 1;
  for (let n = 0; n < SHORT_STRING; n++, at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
    else if (byte === undefined) throw new RawJsonError('unterminated string', start);
  }
  return skipLongString(bytes, start, at);
}

const SHORT_STRING = 48; // beyond it the native search is faster than the loop

/**
 * As skipString, by native search: base64 blobs of megabytes cost a memchr. Where quotes are escaped one after the other,
 * in JSON as text, a call for each costs ten times as much as the loop, so the loop goes on a little after each.
 */
function skipLongString(bytes: RawJson, start: number, from: number): number {
  let at = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) throw new RawJsonError('unterminated string', start);
    let slashes = 0;
    while (quote - 1 - slashes >= at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
    for (let n = 0; n < SHORT_STRING; n++, at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
      else if (byte === undefined) throw new RawJsonError('unterminated string', start);
    }
  }
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
