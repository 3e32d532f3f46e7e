const PREFIX = '=?base64?';
const SUFFIX = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Encodes a text as the value of a mirrored header (`Mcp-Name`, `Mcp-Param-*`).
 *
 * Shape: the text itself when it is visible ASCII with inner spaces or tabs and does not look encoded; otherwise
 * `=?base64?` + base64 of its UTF-8 bytes + `?=`.
 * Source: MCP 2026-07-28 streamable HTTP, header value encoding.
 */
export function encodeHeaderValue(text: string): string {
  if (isPlain(text)) return text;
  return `${PREFIX}${Buffer.from(text, 'utf8').toString('base64')}${SUFFIX}`;
}

/**
 * Decodes a mirrored header value; optional white space around it is ignored.
 *
 * Shape: a value without the whole sentinel is a literal. `undefined` when the content of the sentinel is not base64
 * with correct padding, or not UTF-8: the request is then refused with -32020.
 */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = trimSpace(value);
  if (!looksEncoded(trimmed)) return trimmed;
  const inner = trimmed.slice(PREFIX.length, trimmed.length - SUFFIX.length);
  if (!BASE64.test(inner)) return undefined;
  const bytes = Buffer.from(inner, 'base64');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

/** Whether the text may be a header value unchanged. A loop, because this runs once per call. */
function isPlain(text: string): boolean {
  const last = text.length - 1;
  for (let at = 0; at <= last; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code < 0x7f) continue;
    const inner = at > 0 && at < last;
    if (inner && (code === 0x20 || code === 0x09)) continue;
    return false;
  }
  return last >= 0 && !looksEncoded(text);
}

function looksEncoded(text: string): boolean {
  return text.length >= PREFIX.length + SUFFIX.length && text.startsWith(PREFIX) && text.endsWith(SUFFIX);
}

/** Optional white space of RFC 9110 §5.6.3 is space and tab only. */
function trimSpace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value.charCodeAt(start))) start++;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * Why a body cannot be read as JSON; `undefined` when it can.
 *
 * Shape: `application/json`, of the parameters only a charset is read, and it must be UTF-8 (RFC 8259 §8.1); no content coding.
 */
export function contentFault(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const { 'content-type': type } = headers;
  const fault = codingFault(headers);
  if (fault !== undefined || type === JSON_TYPE) return fault;
  if (mediaType(type) !== JSON_TYPE) return `Content-Type must be ${JSON_TYPE}`;
  const charset = type?.split(';').find((parameter) => parameter.trim().toLowerCase().startsWith('charset'));
  if (charset === undefined || UTF8_CHARSET.test(charset.trim())) return undefined;
  return 'the charset of Content-Type must be utf-8';
}

/** Why the content coding of a body is refused; `undefined` without one. */
export function codingFault({
  'content-encoding': coding,
}: Readonly<Record<string, string | undefined>>): string | undefined {
  if (coding === undefined || coding.trim().toLowerCase() === 'identity') return undefined;
  return 'Content-Encoding is not supported for requests: send the body without it';
}

const JSON_TYPE = 'application/json';
const UTF8_CHARSET = /^charset="?utf-?8"?$/i;

/**
 * Whether the client accepts an event stream: it names `text/event-stream`. A wildcard does not count, because clients
 * without support for streams send it too.
 */
export function acceptsStream(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes('text/event-stream') === true;
}

/** The media type of a content-type header, in lower case, `''` for none. */
export function mediaType(header: string | undefined): string {
  if (header === undefined) return '';
  const semicolon = header.indexOf(';');
  return (semicolon === -1 ? header : header.slice(0, semicolon)).trim().toLowerCase();
}
