import type { OutgoingRequest } from './http-client.ts';

/** What a proxy reads in a request to a plain http origin (RFC 9112 §3.2.2). */
export interface ForProxy {
  /** Before the path: scheme and host. */
  readonly origin: string;
  readonly authorization: string | undefined;
}

/**
 * The head of a request (RFC 9112 §3) as Latin-1 text, its empty line with it.
 * @throws TypeError for a header that would make another request of it
 */
export function requestHead(request: OutgoingRequest, host: string, proxy?: ForProxy): string {
  const { method, path, headers, body } = request;
  if (UNWRITABLE_PATH.test(path)) throw new TypeError('the path of a request has a character that cannot be written');
  let head = `${method} ${proxy === undefined ? path : proxy.origin + path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  if (proxy?.authorization !== undefined) head += `proxy-authorization: ${proxy.authorization}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!sound.has(name)) checkName(name);
    if (UNWRITABLE.test(value)) throw new TypeError(`header "${name}" cannot be written`);
    head += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) head += `content-length: ${body.length}\r\n`;
  return `${head}\r\n`;
}

/** @throws TypeError */
function checkName(name: string): void {
  if (!TOKEN.test(name)) throw new TypeError(`header "${name}" cannot be written`);
  if (OWNED.has(name.toLowerCase())) throw new TypeError(`header "${name}" belongs to the connection`);
  if (sound.size < MAX_SOUND) sound.add(name);
}

/** Names that were checked: the same few come with every request. */
const sound = new Set<string>();
const MAX_SOUND = 256;

/** A header name (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What ends a line or is no Latin-1 (RFC 9110 §5.5). */
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;
const UNWRITABLE_PATH = /[^\x21-\x7e]/;

/** Where a request begins and ends is said by the connection alone. */
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
