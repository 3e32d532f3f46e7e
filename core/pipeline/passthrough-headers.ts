import type { Inbound } from '../contract/inbound.ts';

/** Picks the allowed headers of one request: lower-case name to value. */
export type Passthrough = (headers: Inbound['headers']) => Readonly<Record<string, string>>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/; // RFC 9110 §5.6.2

/**
 * What a client must never set towards a backend: the connection's own headers, who asks and for whom, credentials, and
 * what this hop says about its own body and answer.
 * Source: vmcp spec §2 passthroughHeaders (`Host`, hop-by-hop, `X-Forwarded-*`); RFC 9110 §7.6.1.
 */
const RESTRICTED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'upgrade',
  'http2-settings',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
  'expect',
  'forwarded',
  'x-real-ip',
  'authorization',
  'cookie',
  'last-event-id',
]);
const RESTRICTED_PREFIXES = ['x-forwarded-', 'mcp-'] as const;

/**
 * Says in a few words why clients must not send a header on to backends; `undefined` when they may.
 * An underscore counts as a hyphen: servers that hand headers on as variables cannot tell the two apart.
 */
export function passthroughProblem(header: string): string | undefined {
  if (!TOKEN.test(header)) return 'expected a header name (RFC 9110 token)';
  const plain = header.toLowerCase().replaceAll('_', '-');
  const restricted =
    RESTRICTED.has(plain) || plain === '--proto--' || RESTRICTED_PREFIXES.some((prefix) => plain.startsWith(prefix));
  return restricted ? `the header ${header} is restricted and cannot be passed through` : undefined;
}

/** Makes the picker of an allow-list. Without one it costs nothing. */
export function createPassthrough(allowed: readonly string[]): Passthrough {
  const names = [...new Set(allowed.map((name) => name.toLowerCase()))];
  if (names.length === 0) return () => NO_HEADERS;
  return (headers) => {
    const hop = headers.connection;
    const ofTheHop = hop === undefined ? undefined : new Set(hop.split(',').map((name) => name.trim().toLowerCase()));
    const passed: Record<string, string> = {};
    for (const name of names) {
      const value = headers[name];
      // What `Connection` lists is meant for this hop only (RFC 9110 §7.6.1).
      if (typeof value === 'string' && ofTheHop?.has(name) !== true) passed[name] = value;
    }
    return passed;
  };
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
