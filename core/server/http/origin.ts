import { isIP } from 'node:net';
import type { Responder } from '../../contract/inbound.ts';
import type { RouteOptions } from '../../contract/route.ts';

/** Host and Origin values that one endpoint allows. */
export interface GuardOptions {
  /** Allowed host names, with or without port; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Allowed Origin values, exact, besides the gateway's own; `undefined` = {@link DEFAULT_ORIGINS}. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The option that adds an allowed origin, for refusals, e.g. `--allowed-origins`. Default: the key of the plan. */
  readonly originOption?: string | undefined;
  /** Bound to loopback: the Host must be a loopback name. */
  readonly loopback: boolean;
}

/** Origins that are allowed when none are configured: the page of MCP Inspector at its default address. */
export const DEFAULT_ORIGINS: readonly string[] = ['http://localhost:6274', 'http://127.0.0.1:6274'];

/** The result of the check: a reason to refuse, or the origin for the CORS headers, `*` for any. */
export type OriginCheck = { readonly refused: string } | { readonly origin: string | undefined };

/**
 * Makes the check of Host and Origin that comes first for every request, whatever its method and path.
 *
 * Shape: a missing Origin is allowed; any other must be the gateway's own or listed, so neither `null` nor a page of another
 * port of this machine is allowed. A Host is checked against the list, against loopback names (DNS rebinding), or not at all.
 * Source: MCP streamable HTTP, security warning.
 */
export function createGuard(options: GuardOptions): (headers: RequestHeaders, route?: RouteOptions) => OriginCheck {
  const { allowedOrigins = DEFAULT_ORIGINS, originOption = 'endpoint.allowedOrigins', allowedHosts } = options;
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  const isHostAllowed = hostCheck(options);
  const refusedOrigin = { refused: `this Origin is not allowed: add it to ${originOption}` };
  return ({ origin, host }, route) => {
    if (!isHostAllowed(host)) return { refused: 'this Host is not served here' };
    if (origin === undefined) return NO_ORIGIN;
    // a Host that is not checked may be the name of any page (DNS rebinding), unless it is an address
    if (origins.has(origin.toLowerCase()) || isOwnOrigin(origin, host, allowedHosts !== undefined)) return { origin };
    return allowedByRoute(origin, route) ?? refusedOrigin;
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
    return loopback && isLoopbackName(name);
  };
}

const NO_ORIGIN: OriginCheck = { origin: undefined };
const PORT = /:\d+$/;

/** Headers of every response to an allowed browser origin. */
export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    vary: 'Origin',
  };
}

/** A responder that adds headers to every response. */
export function withHeaders(responder: Responder, more: Readonly<Record<string, string>>): Responder {
  return {
    failed: (error) => responder.failed?.(error),
    send: (status, headers, body) => responder.send(status, { ...headers, ...more }, body),
    open: (status, headers) => responder.open(status, { ...headers, ...more }),
    onDisconnect: (listener) => responder.onDisconnect(listener),
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

/**
 * Answers a preflight for a host that does not pass it to a gateway, as the gateway's endpoint would. Refusals have no CORS headers,
 * so the browser does not send the request.
 */
export function createPreflight(options: GuardOptions) {
  const guard = createGuard(options);
  return (
    headers: RequestHeaders,
    route?: RouteOptions,
  ): { readonly status: 204 | 403; readonly headers: Readonly<Record<string, string>> } => {
    const verdict = guard(headers, route);
    if ('refused' in verdict || verdict.origin === undefined) return { status: 403, headers: {} };
    const asked = preflightHeaders(headers['access-control-request-headers']);
    return { status: 204, headers: { ...corsHeaders(verdict.origin), ...asked } };
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

/**
 * Whether a page comes from the address that it sends a request to: the Origin has the Host of the request. The loopback names of
 * one port are one origin, so a page at `http://localhost:4483` may use `http://127.0.0.1:4483`.
 *
 * @param hostIsChecked the Host is one that this listener serves. Otherwise only loopback names and addresses count, because any
 * page can give its own name this address (DNS rebinding)
 */
export function isOwnOrigin(origin: string, host: string | undefined, hostIsChecked = false): boolean {
  const page = URL.parse(origin);
  if (page === null || page.origin !== origin.toLowerCase() || !SCHEMES.has(page.protocol)) return false;
  const own = URL.parse(`${page.protocol}//${host}`);
  if (own === null || own.port !== page.port) return false;
  if (isLoopbackName(own.hostname)) return isLoopbackName(page.hostname);
  return own.hostname === page.hostname && (hostIsChecked || isIP(own.hostname.replace(BRACKETS, '')) !== 0);
}

/** Whether a host name, without port, is one of this machine only. */
export function isLoopbackName(name: string): boolean {
  return LOOPBACK_NAME.test(name);
}

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);
const BRACKETS = /^\[|\]$/g;
const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
