import type { JsonObject, JsonValue } from '@toolmgr/core';
import { parsePartialJson } from './partial-json.ts';

/** Replaces a secret. */
export const REDACTED = '[redacted]';

/** A member whose lower-case name contains one of these is masked. Source: vmcp endpoint, redaction. */
const SECRET_WORDS = /password|passwd|passphrase|token|secret|key|auth|credential|private|cookie/;

const SECRET_NAME_PATTERN = '(?:password|passwd|passphrase|token|secret|key|auth|pwd|signature|credentials?)';
const ASSIGNED = `${SECRET_NAME_PATTERN}["'\\\\]{0,4}\\s{0,4}[:=]\\s{0,4}`;
const NAME_OF_PAIR = `${SECRET_NAME_PATTERN}[^"'\\\\]{0,64}\\\\{0,3}["']\\s{0,4},\\s{0,4}\\\\{0,3}["']value\\\\{0,3}["']\\s{0,4}:\\s{0,4}`;

/** Formats of secrets that are masked in any text. */
const SECRET_SHAPES: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, REDACTED],
  // JWT, JWE; a run without a second part is taken as a whole too, so that no part of it is searched again
  [
    /\beyJ[\w-]{5,8192}(?:\.[\w-]{4,8192}(?:\.[\w-]{0,8192}){0,3})?/g,
    (found) => (found.includes('.') ? REDACTED : found),
  ],
  [/\b(bearer|basic|dpop|negotiate)\s{1,8}[\w.~+/=-]{6,8192}/gi, `$1 ${REDACTED}`],
  [/\b(?:sk|pk|rk)[-_][\w-]{16,512}/g, REDACTED],
  [/\b(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[abeoprs]-|AIza)[\w-]{10,512}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, REDACTED],
  [/(:\/\/)[^\s/?#@]{1,512}@/g, `$1${REDACTED}@`], // user:password of a URL
  [
    /\b((?:set-)?cookie|(?:proxy-)?authorization)(["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4})[^\r\n"']{1,8192}/gi,
    `$1$2${REDACTED}`,
  ],
  // values assigned to such a name: quoted, unquoted, or a structure, after which the whole rest is masked
  [new RegExp(`(${ASSIGNED}\\\\{0,3}["'])(?:[^"'\\\\\\r\\n]|\\\\[^"'\\\\]){1,8192}`, 'gi'), `$1${REDACTED}`],
  [new RegExp(`(${ASSIGNED})[{[][\\s\\S]{1,65536}`, 'gi'), `$1${REDACTED}`],
  [new RegExp(`(${ASSIGNED})(?!\\[redacted\\])[^\\s"'\\\\&,;(){}[\\]]{1,8192}`, 'gi'), `$1${REDACTED}`],
  [new RegExp(`(${NAME_OF_PAIR}\\\\{0,3}["'])[^"'\\\\]{1,8192}`, 'gi'), `$1${REDACTED}`],
];

/**
 * A decoded value without its secrets.
 *
 * Shape: masks members with a secret name, with any value; the `value` of `{ name, value }` pairs with a secret name; and
 * secrets in known formats inside strings. Objects below {@link MAX_DEPTH} are cut.
 */
export function redacted(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === 'string') return redactedString(value, depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((each: JsonValue) => redacted(each, depth + 1));
  return redactedObject(value as JsonObject, depth);
}

/** A text with secrets of known formats masked. */
export function redactedText(text: string): string {
  if (text.length < SHORTEST || !MAY_CONTAIN_SECRET.test(text)) return text;
  let safe = text;
  for (const [shape, mask] of SECRET_SHAPES) {
    safe = typeof mask === 'string' ? safe.replace(shape, mask) : safe.replace(shape, mask);
  }
  return safe;
}

/** Masks JSON inside a text by its members, also when it is cut. */
function redactedString(text: string, depth: number): string {
  if (!JSON_BEGINS.test(text) || depth >= MAX_DEPTH) return redactedText(text);
  const inner = parsePartialJson(text);
  return inner === undefined ? redactedText(text) : JSON.stringify(redacted(inner, depth + 1));
}

const JSON_BEGINS = /^\s{0,64}(?:\{\s{0,64}"|\[\s{0,64}[{["])/;

/** Whether a member of this name is masked. */
export function isSecretName(name: string): boolean {
  return SECRET_WORDS.test(name.toLowerCase());
}

function redactedObject(value: JsonObject, depth: number): JsonObject {
  const paired = [value.name, value.key, value.header].some((name) => typeof name === 'string' && isSecretName(name));
  const entries = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    const isSecret = (isSecretName(key) && !(key === 'key' && 'value' in value)) || (paired && key === 'value');
    return [redactedText(key), isSecret && member !== null ? REDACTED : redacted(member as JsonValue, depth + 1)];
  });
  return Object.fromEntries(entries);
}

const MAX_DEPTH = 64;
const SHORTEST = 8; // no format is shorter
/** Matches every text with a secret; most texts need only this test. Without the flag `i`, which takes twice as long. */
const MAY_CONTAIN_SECRET =
  /[:=]|eyJ|[bB][eE][aA][rR]|[bB][aA][sS][iI]|[dD][pP][oO][pP]|[nN][eE][gG][oO]|[prs]k[-_]|gh[opsur]_|github_|glpat-|npm_|xox|AIza|A[KS]IA|-----B/;
