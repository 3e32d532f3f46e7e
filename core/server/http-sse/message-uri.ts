import type { Inbound } from '../../contract/inbound.ts';

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

/** What a reverse proxy says about the URL that the client used; only well-formed values. */
export interface Forwarded {
  readonly proto?: 'http' | 'https';
  /** Name or address without a port; IPv6 in brackets. */
  readonly host?: string;
  readonly port?: number;
  /** Starts with `/` and does not end with it. */
  readonly prefix?: string;
}

/**
 * Reads `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`. Call it only if the operator trusts the proxy.
 *
 * Shape: of a list the first value, which the outermost proxy wrote. A value that is not well-formed is ignored.
 */
export function readForwarded(headers: Inbound['headers']): Forwarded {
  const proto = first(headers['x-forwarded-proto'])?.toLowerCase();
  const { host, port: portOfHost } = readHost(first(headers['x-forwarded-host'])) ?? {};
  const port = portFrom(first(headers['x-forwarded-port'])) ?? portOfHost;
  const prefix = pathPrefix(first(headers['x-forwarded-prefix']) ?? '');
  return {
    ...(proto === 'http' || proto === 'https' ? { proto } : {}),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(prefix === undefined || prefix === '' ? {} : { prefix }),
  };
}

/**
 * A path that is put before the paths of the endpoint, without a final `/` or `/sse`. `undefined` when it does not begin
 * with `/`, is too long, or has anything but plain path segments: `//` would name another host, and `..` another path.
 */
export function pathPrefix(text: string): string | undefined {
  if (text.length > MAX_PREFIX || !PREFIX.test(text) || DOTS.test(text)) return undefined;
  return text.replace(/\/$/, '').replace(/\/sse$/, '');
}

/** A `Host` value in two parts; `undefined` when it is not well-formed. */
export function readHost(text: string | undefined): Pick<Forwarded, 'host' | 'port'> | undefined {
  const [host, digits] = HOST.exec(text ?? '')?.slice(1) ?? [];
  if (host === undefined) return undefined;
  const port = portFrom(digits);
  return { host, ...(port === undefined ? {} : { port }) };
}

function first(list: string | undefined): string | undefined {
  if (list === undefined || list.length > MAX_HEADER) return undefined;
  const comma = list.indexOf(',');
  return (comma === -1 ? list : list.slice(0, comma)).trim();
}

function portFrom(text: string | undefined): number | undefined {
  const port = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

const MAX_HEADER = 4_096;
const MAX_PREFIX = 1_024;
const HOST = /^((?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i;
/** Segments of unreserved characters (RFC 3986); no `%`, so that nothing is decoded twice. */
const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)+\/?$|^\/$/;
const DOTS = /\/\.{1,2}(?:\/|$)/;
