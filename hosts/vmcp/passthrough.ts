import type { Problem } from './not-yet.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/; // RFC 9110 §5.6.2

/** Headers that a client must never set towards a backend. Source: vmcp spec §2 passthroughHeaders; hop-by-hop, identity. */
const RESTRICTED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'content-type',
  'accept',
  'forwarded',
  'x-real-ip',
  'authorization',
  'cookie',
  'last-event-id',
]);

/** What is wrong with an allow-list of client headers: empty names, malformed ones, and ones of the connection. */
export function passthroughProblems(headers: readonly string[]): Problem[] {
  return headers.flatMap((header, index) => {
    const message = whyRefused(header);
    return message === undefined ? [] : [{ path: ['passthroughHeaders', index], message }];
  });
}

function whyRefused(header: string): string | undefined {
  if (!TOKEN.test(header)) return 'expected a header name (RFC 9110 token)';
  const lower = header.toLowerCase();
  const restricted = RESTRICTED.has(lower) || lower.startsWith('x-forwarded-') || lower.startsWith('mcp-');
  return restricted ? `${header} is restricted and cannot be passed through` : undefined;
}
