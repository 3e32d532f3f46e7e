import type { Inbound } from '../../contract/inbound.ts';
import { type Forwarded, pathPrefix, readForwarded, readHost } from './forwarded-headers.ts';

/** Paths of the transport HTTP+SSE, and how its clients are told where to send messages. */
export interface SseOptions {
  /** Path of the event stream, e.g. `/sse`. */
  readonly path: string;
  /** Path to which clients POST messages, e.g. `/messages`. */
  readonly messagesPath: string;
  /** Put before `messagesPath` in the `endpoint` event; it wins over `X-Forwarded-Prefix`. */
  readonly prefix?: string | undefined;
  /** The `X-Forwarded-*` headers come from a reverse proxy that sets them itself. */
  readonly trustForwarded?: boolean | undefined;
}

/** The query parameter of the messages path. */
export const SESSION_PARAMETER = 'session_id';

/**
 * The URI in the `endpoint` event.
 *
 * Shape: a path, which the client resolves against the URL that it used. With a trusted `X-Forwarded-Proto`, `-Host` or
 * `-Port` an absolute URL; what the proxy did not say comes from the `Host` header.
 * Source: MCP 2024-11-05 transports, HTTP with SSE.
 */
export function messageUri(
  { messagesPath, prefix, trustForwarded }: SseOptions,
  headers: Inbound['headers'],
  id: string,
): string {
  const forwarded = trustForwarded === true ? readForwarded(headers) : NOTHING;
  const before = (prefix === undefined ? undefined : pathPrefix(prefix)) ?? forwarded.prefix ?? '';
  return `${originOf(forwarded, headers.host)}${before}${messagesPath}?${SESSION_PARAMETER}=${id}`;
}

/** Empty when the proxy said nothing about the origin. */
function originOf({ proto, host, port }: Forwarded, hostHeader: string | undefined): string {
  if (proto === undefined && host === undefined && port === undefined) return '';
  const own = host === undefined ? readHost(hostHeader) : undefined;
  const name = host ?? own?.host;
  if (name === undefined) return '';
  const scheme = proto ?? 'http';
  const shown = port ?? own?.port;
  return `${scheme}://${name}${shown === undefined || shown === DEFAULT_PORTS[scheme] ? '' : `:${shown}`}`;
}

const NOTHING: Forwarded = {};
const DEFAULT_PORTS: Readonly<Record<'http' | 'https', number>> = { http: 80, https: 443 };
