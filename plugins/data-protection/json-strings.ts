import type { RawJson } from '@toolmgr/core';

/**
 * Looks at each string value of a JSON text, with the key before it or its array; keys are left alone. `look` gives the string to write instead,
 * or the same one. All other bytes stay as they are, numbers of any size included. Base64 in the keys of `encoded` is not looked at.
 * With `isWhole` keys and numbers are looked at too; a number that changes becomes a string.
 *
 * The text must be valid JSON, as all texts of the core are: then quotes are only around strings.
 */
export function withStrings(
  json: RawJson,
  look: (text: string, key: string | undefined, bytes: number) => string,
  encoded: ReadonlySet<string> = NOTHING,
  isWhole = false,
): RawJson {
  const parts: Buffer[] = [];
  let copied = 0;
  const write = (text: string, looked: string, start: number, end: number) => {
    if (looked === text) return;
    parts.push(json.subarray(copied, start), Buffer.from(JSON.stringify(looked)));
    copied = end;
  };
  const lookAtNumbers = (start: number, end: number) => {
    if (!isWhole) return;
    for (const { 0: text, index } of json.toString('latin1', start, end).matchAll(NUMBER))
      write(text, look(text, undefined, text.length), start + index, start + index + text.length);
  };
  let end = 0;
  let key: string | undefined;
  /** Where the value of `key` begins, and where the next string does that has this key. */
  let valueAt = -1;
  let keyedAt = -1;
  for (let open = json.indexOf(QUOTE); open !== -1; ) {
    lookAtNumbers(end, open);
    const close = endOfString(json, open + 1);
    end = close + 1;
    const next = afterSpace(json, close + 1);
    if (json[next] === COLON) {
      key = readString(json, open, close);
      if (isWhole) write(key, look(key, undefined, close - open - 1), open, end);
      valueAt = afterSpace(json, next + 1);
      keyedAt = json[valueAt] === BRACKET ? afterSpace(json, valueAt + 1) : valueAt;
    } else {
      const ownKey = open === keyedAt ? key : undefined;
      // the next string of an array has the same key; after a member comes a key of its own
      if (ownKey !== undefined && json[next] === COMMA) keyedAt = afterSpace(json, next + 1);
      if (open !== valueAt || ownKey === undefined || !encoded.has(ownKey) || !isBase64(json, open + 1, close)) {
        const text = readString(json, open, close);
        write(text, look(text, ownKey, close - open - 1), open, end);
      }
    }
    open = json.indexOf(QUOTE, end);
  }
  lookAtNumbers(end, json.length);
  if (parts.length === 0) return json;
  parts.push(json.subarray(copied));
  return Buffer.concat(parts);
}

/** Text that is an object, an array or a string of JSON as a whole. */
export function isJson(text: string): boolean {
  const trimmed = text.trim();
  if (!/^(?:\{\}|\[\]|"")$/.test(trimmed.charAt(0) + trimmed.slice(-1))) return false;
  try {
    JSON.parse(trimmed);
    return true;
  } catch {
    return false;
  }
}

/** The quote that ends the string whose first character is at `start`. */
function endOfString(json: RawJson, start: number): number {
  for (let at = json.indexOf(QUOTE, start); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (before > start && json[before - 1] === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
}

function afterSpace(json: RawJson, start: number): number {
  let at = start;
  while (json[at] === 0x20 || json[at] === 0x0a || json[at] === 0x0d || json[at] === 0x09) at++;
  return at;
}

function readString(json: RawJson, open: number, close: number): string {
  const text = json.toString('utf8', open + 1, close);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Only that is no text: a backend may write anything into a member that is meant for it. */
function isBase64(json: RawJson, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!IS_BASE64[json[at] as number]) return false;
  return true;
}

/** By byte. Source: RFC 4648 §4. */
const IS_BASE64: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/=]/.test(String.fromCharCode(byte)),
);

/** Numbers that are long enough to be of interest. */
const NUMBER = /-?\d[\d.eE+-]{5,}/g;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const NOTHING: ReadonlySet<string> = new Set();
