/**
 * Whether a URI has dot segments (`.`, `..`) or encoded dots, in any spelling that some server reads so: encoded slashes,
 * back slashes, encodings of encodings, path parameters (`..;`), tabs and line ends, which URL parsers drop.
 *
 * Such a URI is another one for a policy's pattern than for the server that resolves it: `docs://open/../secret`.
 * Source: RFC 3986 §5.2.4 and §6.2.2; WHATWG URL, basic parser.
 */
export function hasDotSegments(uri: string): boolean {
  if (!SUSPECT.test(uri)) return false;
  let text = uri.replace(DROPPED, '');
  for (let depth = 0; depth < MAX_ENCODINGS && text.includes('%25'); depth++) text = text.replaceAll('%25', '%');
  return ENCODED_DOT.test(text) || DOT_SEGMENT.test(text.replace(ENCODED_SLASH, '/'));
}

const SUSPECT = /\.|%2e|%25|%c0|%e0/i;
const DROPPED = /[\t\n\r]/g;
const ENCODED_DOT = /%2e|%c0%ae|%e0%80%ae/i; // the last two: UTF-8 that is longer than it may be
const ENCODED_SLASH = /%2f|%5c/gi;
const DOT_SEGMENT = /(?:^|[:/\\?#&=])\.{1,2}(?:$|[/\\?#&;])/;
const MAX_ENCODINGS = 4;
