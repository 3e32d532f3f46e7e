/**
 * Whether servers may treat another spelling of the URI as the same URI: dot segments (`.`, `..`) and empty segments
 * (`//`) of the path; percent-encoded characters that need no encoding (letters, digits, `-._~`), also after encoded
 * slashes, back slashes, double encodings or path parameters (`..;`); control characters, which URL parsers drop; and
 * for http, https, ws, wss, ftp and file an authority that a URL parser rewrites.
 *
 * A policy compares such a URI as text, but a server may resolve it to another resource: `docs://open/../secret`,
 * `docs://%73ecret`, `docs://sec\tret`, `https://HOST/`.
 * Source: RFC 3986 §5.2.4 and §6.2.2; WHATWG URL, basic parser.
 */
export function isAmbiguousUri(uri: string): boolean {
  if (DROPPED.test(uri) || hasOtherAuthority(uri)) return true;
  if (!SUSPECT.test(uri)) return hasEmptySegment(uri);
  let text = uri;
  for (let depth = 0; depth < MAX_ENCODINGS && text.includes('%25'); depth++) text = text.replaceAll('%25', '%');
  if (ENCODED_UNRESERVED.test(text)) return true;
  const decoded = text.replace(ENCODED_SLASH, '/');
  return DOT_SEGMENT.test(decoded) || hasEmptySegment(decoded);
}

const SUSPECT = /[.%]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for
const DROPPED = /[\0-\x1f\x7f]|^ | $/;
/** RFC 3986 §2.3: `-` `.` `_` `~`, digits and letters; then a dot as overlong UTF-8. */
const ENCODED_UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])|%c0%ae|%e0%80%ae/i;
const ENCODED_SLASH = /%2f|%5c/gi;
const DOT_SEGMENT = /(?:^|[:/\\?#&=])\.{1,2}(?:$|[/\\?#&;])/;
const MAX_ENCODINGS = 4;

/**
 * File systems and many servers treat `a//b` as `a/b`. A URI inside a path keeps its slashes:
 * `proxy://get/https://a/b`.
 */
function hasEmptySegment(uri: string): boolean {
  const start = BEFORE_PATH.exec(uri)?.[0].length ?? 0;
  const length = uri.slice(start).search(BEHIND_PATH);
  return EMPTY_SEGMENT.test(length === -1 ? uri.slice(start) : uri.slice(start, start + length));
}

/** RFC 3986 §3: the scheme and the authority. */
const BEFORE_PATH = /^[^:/?#]*:(?:\/\/[^/?#]*)?/;
const BEHIND_PATH = /[?#]/;
const EMPTY_SEGMENT = /(?<!:)\/\//;

/** For these schemes URL parsers rewrite the authority: upper case, default ports, Unicode host names. */
function hasOtherAuthority(uri: string): boolean {
  if (FILE.test(uri)) return !FILE_PATH.test(uri);
  if (!SPECIAL.test(uri)) return false;
  if (!URL.canParse(uri)) return false; // no server can fetch it
  const { origin } = new URL(uri);
  return !uri.startsWith(origin) || !/^(?:$|[/?#])/.test(uri.slice(origin.length)) || BACK_SLASH.test(uri);
}

const FILE = /^file:/i;
/** `file:/a`, `file://localhost/a` and `FILE:///a` equal `file:///a`; other hosts are kept. */
const FILE_PATH = /^file:\/\/(?!localhost(?:$|[/?#]))[^/?#A-Z\\]*(?:$|[/?#])/;
const SPECIAL = /^(?:https?|wss?|ftp):/i;
/** A back slash in the path counts as a slash for these schemes. */
const BACK_SLASH = /^[^?#]*\\/;
