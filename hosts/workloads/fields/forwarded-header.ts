import { z } from 'zod';

/** Headers that belong to a connection or to proxies. Source: reference workload-api §2.7. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'http2-settings', 'proxy-authorization'],
  ...['proxy-authenticate', 'proxy-connection', 'transfer-encoding', 'content-length', 'forwarded'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'],
]);

/** Name of a header that requests to a remote server get: a token (RFC 9110) of at most 256 bytes. */
export const forwardedName = z
  .string()
  .max(256, 'a header name has at most 256 bytes')
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name (RFC 9110 token)')
  .refine((name) => !FORBIDDEN.has(name.toLowerCase()), 'this header cannot be forwarded');

/** Its value: at most 8,192 bytes without control characters. */
export const forwardedValue = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= 8_192, 'a header value has at most 8192 bytes')
  .refine((value) => !hasControls(value), 'a header value has no control characters');

function hasControls(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
  return /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}
