import type { Inbound } from '../contract/inbound.ts';
import { CONNECTION_FIELDS, CONTENT_FIELDS, FIELD_NAME } from '../mcp/header-fields.ts';

/** Picks the allowed headers of one request: lower-case name to value. */
export type Passthrough = (headers: Inbound['headers']) => Readonly<Record<string, string>>;

/**
 * Headers that clients must never set for a backend: those of the connection, of identity and origin, credentials, and
 * those about the encoding of body and response.
 * Source: vmcp spec §2 passthroughHeaders (`Host`, hop-by-hop, `X-Forwarded-*`); RFC 9110 §7.6.1.
 */
const RESTRICTED: ReadonlySet<string> = new Set([
  ...CONNECTION_FIELDS,
  ...CONTENT_FIELDS,
  'trailers',
  'proxy-authenticate',
  'proxy-authentication-info',
  'forwarded',
  'x-real-ip',
  'authorization',
  'cookie',
  'last-event-id',
]);
const RESTRICTED_PREFIXES = ['x-forwarded-', 'mcp-'] as const;

/** Pattern of restricted names, in the syntax that RE2 and JavaScript share. An underscore counts as a hyphen. */
export function restrictedHeaderPattern(): string {
  const names = [...RESTRICTED, '--proto--', ...RESTRICTED_PREFIXES.map((prefix) => `${prefix}.*`)];
  return `^(?i:${names.map((name) => name.replaceAll('-', '[-_]')).join('|')})$`;
}

/**
 * Why a header of clients must not be forwarded to backends; `undefined` when it may.
 * An underscore counts as a hyphen: servers that pass headers as environment variables cannot distinguish them.
 */
export function passthroughProblem(header: string): string | undefined {
  if (!FIELD_NAME.test(header)) return 'expected a header name (RFC 9110 token)';
  const plain = header.toLowerCase().replaceAll('_', '-');
  const restricted =
    RESTRICTED.has(plain) || plain === '--proto--' || RESTRICTED_PREFIXES.some((prefix) => plain.startsWith(prefix));
  return restricted ? `the header ${header} is restricted and cannot be passed through` : undefined;
}

/** Makes the function that picks the headers of an allow-list; `undefined` for an empty list. */
export function createPassthrough(allowed: readonly string[]): Passthrough | undefined {
  const names = [...new Set(allowed.map((name) => name.toLowerCase()))];
  if (names.length === 0) return undefined;
  return (headers) => {
    const hop = headers.connection;
    const ofTheHop = hop === undefined ? undefined : new Set(hop.split(',').map((name) => name.trim().toLowerCase()));
    const passed: Record<string, string> = {};
    for (const name of names) {
      const value = headers[name];
      // Headers listed in `Connection` are for this hop only (RFC 9110 §7.6.1).
      if (typeof value === 'string' && ofTheHop?.has(name) !== true) passed[name] = value;
    }
    return passed;
  };
}
