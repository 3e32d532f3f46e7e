import type { RouteOptions } from '../../contract/route.ts';

/** Host and Origin values that one endpoint allows. */
export interface GuardOptions {
  /** Allowed host names, with or without port; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Allowed Origin values, exact, besides loopback ones. */
  readonly allowedOrigins: readonly string[];
  /** Loopback origins are allowed too (default). */
  readonly loopbackOrigins?: boolean | undefined;
  /** Bound to loopback: the Host must be a loopback name. */
  readonly loopback: boolean;
}

/** The result of the check: a reason to refuse, or the origin for the CORS headers, `*` for any. */
export type OriginCheck = { readonly refused: string } | { readonly origin: string | undefined };

/**
 * Makes the check of Host and Origin that comes first for every request, whatever its method and path.
 *
 * Shape: a missing Origin is allowed; any other must be loopback or listed, so `null` is never allowed. A Host is
 * checked against the list, against loopback names (DNS rebinding), or not at all.
 * Source: MCP streamable HTTP, security warning.
 */
export function createGuard(options: GuardOptions): (headers: RequestHeaders, route?: RouteOptions) => OriginCheck {
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const { loopbackOrigins = true } = options;
  const isHostAllowed = hostCheck(options);
  return ({ origin, host }, route) => {
    if (!isHostAllowed(host)) return { refused: 'this Host is not served here' };
    if (origin === undefined) return NO_ORIGIN;
    if ((loopbackOrigins && LOOPBACK_ORIGIN.test(origin)) || origins.has(origin.toLowerCase())) return { origin };
    return allowedByRoute(origin, route) ?? { refused: 'this Origin is not allowed' };
  };
}

function allowedByRoute(origin: string, route: RouteOptions | undefined): OriginCheck | undefined {
  const { origins } = route ?? {};
  if (origins === 'any') return { origin: '*' };
  return origins?.includes(origin.toLowerCase()) ? { origin } : undefined;
}

type RequestHeaders = Readonly<Record<string, string | undefined>>;

function hostCheck({ allowedHosts, loopback }: GuardOptions): (host: string | undefined) => boolean {
  if (allowedHosts === undefined && !loopback) return () => true;
  const listed = new Set((allowedHosts ?? []).map((host) => host.toLowerCase()));
  return (host) => {
    if (host === undefined) return false;
    const given = host.toLowerCase();
    const name = given.replace(PORT, '');
    if (listed.has(given) || listed.has(name)) return true;
    return loopback && LOOPBACK_NAME.test(name);
  };
}

const NO_ORIGIN: OriginCheck = { origin: undefined };
const PORT = /:\d+$/;
const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Headers of every response to an allowed browser origin. */
export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    vary: 'Origin',
  };
}

/**
 * Headers of the response to a preflight from an allowed origin.
 *
 * Shape: the known request headers, and the `Mcp-Param-*` names that the browser requests: these depend on the tool,
 * and a wildcard does not cover requests with credentials.
 */
export function preflightHeaders(asked: string | undefined): Readonly<Record<string, string>> {
  const params = (asked ?? '').split(',', MAX_ASKED_HEADERS).map((name) => name.trim());
  const names = [...ALLOWED_HEADERS, ...params.filter((name) => PARAM_HEADER.test(name))];
  return {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': names.join(', '),
    'access-control-max-age': '600',
  };
}

const MAX_ASKED_HEADERS = 128;
const PARAM_HEADER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i;
const ALLOWED_HEADERS = [
  'Content-Type',
  'Accept',
  'Authorization',
  'Last-Event-ID',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'traceparent',
  'tracestate',
  'baggage',
] as const;
