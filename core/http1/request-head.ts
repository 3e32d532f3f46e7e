import type { OutgoingRequest } from './http-client.ts';

/** Additional parts of a request to a proxy for a plain http origin (RFC 9112 §3.2.2). */
export interface ProxyTarget {
  /** Prefix of the path: scheme and host. */
  readonly origin: string;
  readonly authorization: string | undefined;
}

/**
 * The head of a request (RFC 9112 §3) as Latin-1 text, including its empty line.
 * @throws TypeError for a header that would change the framing of the request
 */
export function requestHead(request: OutgoingRequest, host: string, proxy?: ProxyTarget): string {
  const { method, path, headers, body } = request;
  if (UNWRITABLE_PATH.test(path)) throw new TypeError('the path of a request has an invalid character');
  let head = `${method} ${proxy === undefined ? path : proxy.origin + path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  if (proxy?.authorization !== undefined) head += `proxy-authorization: ${proxy.authorization}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!sound.has(name)) checkName(name);
    if (UNWRITABLE.test(value)) throw new TypeError(`header "${name}" has an invalid value`);
    head += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) head += `content-length: ${body.length}\r\n`;
  return `${head}\r\n`;
}

/** Checks a request that another client writes. @throws TypeError as {@link requestHead} */
export function checkRequest(request: OutgoingRequest): void {
  requestHead(request, '');
}

/** @throws TypeError */
function checkName(name: string): void {
  if (!TOKEN.test(name)) throw new TypeError(`header "${name}" has an invalid name`);
  if (OWNED.has(name.toLowerCase())) throw new TypeError(`header "${name}" is set by the connection`);
  if (sound.size < MAX_SOUND) sound.add(name);
}

/** Names that were already checked: requests use the same few names. */
const sound = new Set<string>();
const MAX_SOUND = 256;

/** A header name (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Line breaks, and characters that are not Latin-1 (RFC 9110 §5.5). */
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;
const UNWRITABLE_PATH = /[^\x21-\x7e]/;

/** Only the connection sets the framing headers. */
const OWNED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'proxy-authorization',
]);
