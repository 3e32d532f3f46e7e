import type { Inbound } from '../../contract/inbound.ts';

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
