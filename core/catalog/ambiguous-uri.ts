/**
 * Whether a URI has another spelling that some server takes for the same: dot segments (`.`, `..`) or percent-encoded
 * characters that need no encoding (letters, digits, `-._~`), also behind encoded slashes, back slashes, encodings of
 * encodings, path parameters (`..;`), tabs and line ends, which URL parsers drop.
 *
 * For a policy such a URI is another one than for the server that resolves it: `docs://open/../secret`, `docs://%73ecret`.
 * Source: RFC 3986 §5.2.4 and §6.2.2; WHATWG URL, basic parser.
 */
export function isAmbiguousUri(uri: string): boolean {
  if (!SUSPECT.test(uri)) return false;
  let text = uri.replace(DROPPED, '');
  for (let depth = 0; depth < MAX_ENCODINGS && text.includes('%25'); depth++) text = text.replaceAll('%25', '%');
  return ENCODED_UNRESERVED.test(text) || DOT_SEGMENT.test(text.replace(ENCODED_SLASH, '/'));
}

const SUSPECT = /[.%]/;
const DROPPED = /[\t\n\r]/g;
/** RFC 3986 §2.3: `-` `.` `_` `~`, digits and letters; then a dot as UTF-8 that is longer than it may be. */
const ENCODED_UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])|%c0%ae|%e0%80%ae/i;
const ENCODED_SLASH = /%2f|%5c/gi;
const DOT_SEGMENT = /(?:^|[:/\\?#&=])\.{1,2}(?:$|[/\\?#&;])/;
const MAX_ENCODINGS = 4;
