import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound, Responder } from '../contract/inbound.ts';
import type { RequestListener } from '../contract/request-record.ts';
import type { MountedRoutes } from '../contract/route.ts';
import type { WireError } from '../contract/wire-error.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { errorFromRefusal, INTERNAL, retryAfterSeconds } from '../mcp/envelope.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { isJsonType } from '../mcp/headers.ts';
import { NULL_ID, readMessage } from '../mcp/message.ts';
import type { GatewayService, ListsChanged } from '../pipeline/gateway-service.ts';
import { createInFlight, type InFlight } from '../timing/in-flight.ts';
import { isPromise } from '../timing/is-promise.ts';
import { replaceableSessions, type SharedSessions } from './era-2025-11-25/sessions/session-store.ts';
import { type BodyFault, type BodyReader, givenBody, readNodeBody, readWebBody } from './http/body.ts';
import { createClientAddress } from './http/client-address.ts';
import { type FetchOptions, openWebExchange } from './http/fetch-adapter.ts';
import { type HandleOptions, NodeInbound, NodeResponder } from './http/node-adapter.ts';
import { corsHeaders, createGuard, preflightHeaders } from './http/origin.ts';
import { sendProblem } from './http/problem.ts';
import { type RecordedInbound, RequestRecorder } from './http/request-recorder.ts';
import { CONSUMED, NO_ROUTES, routeAt, serveRoute } from './http/routes.ts';
import { sendError } from './http/send-error.ts';
import { withHeaders } from './http/with-headers.ts';
import type { SseOptions } from './http-sse/message-uri.ts';
import { createProtocolRouter } from './protocol-router.ts';
import type { HttpExchange, ServedPath } from './protocol-server.ts';
import { createRejectedTokens } from './rejected-tokens.ts';
import { ReloadableService } from './reloadable-service.ts';

/** Settings and dependencies of an endpoint. */
export interface EndpointOptions {
  readonly service: GatewayService;
  readonly limits: Limits;
  /** Path of MCP, e.g. `/mcp`. */
  readonly path: string;
  /** A second path of the same endpoint; the gateway decides what each path serves. */
  readonly directPath?: string | undefined;
  /** Serves the transport HTTP+SSE at paths of its own. */
  readonly sse?: SseOptions | undefined;
  /** Allowed host names; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Allowed Origin values, exact, besides loopback ones. */
  readonly allowedOrigins?: readonly string[];
  /** Loopback origins are allowed too (default). */
  readonly loopbackOrigins?: boolean | undefined;
  readonly loopback: boolean;
  /** Reverse proxies whose `X-Forwarded-For` names the client: IP addresses, or networks in CIDR notation. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Only POST is answered: no event streams of their own, and sessions are not ended by clients. */
  readonly postOnly?: boolean | undefined;
  /** See `ProtocolServerParts`. */
  readonly strictProtocolVersion?: boolean;
  /** Routes beside the endpoint; they are checked before it. */
  readonly routes?: MountedRoutes;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
  /** The legacy sessions of all replicas. */
  readonly sharedSessions?: SharedSessions | undefined;
  onSessionEnded?(ended: SessionEnded): void;
  /** Receives a record of every request; without it no record is made. */
  readonly requests?: RequestListener | undefined;
}

/** What a reloaded gateway passes to the endpoint that it takes over. */
export interface HandoverParts
  extends Pick<EndpointOptions, 'service' | 'routes' | 'requests' | 'sharedSessions' | 'onSessionEnded'> {
  /** Backends that it took over unchanged. */
  readonly kept: ReadonlySet<string>;
  /** Authentication changed: open streams are ended, so that clients authenticate again. */
  readonly endStreams: boolean;
}

/** The client-facing side of a gateway. */
export interface Endpoint {
  /** Answers one request of any adapter. Never rejects. */
  serve(inbound: Inbound, readBody: BodyReader, responder: Responder): Promise<void>;
  /** Answers one Node request. */
  handle(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void;
  /** Answers one web-standard request. Rejects only when the options are wrong. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /** Live sessions and open event streams. */
  counts(): { readonly sessions: number; readonly streams: number };
  /**
   * Replaces the gateway behind the endpoint: new requests go to the new one; sessions and streams are kept. The
   * promise in the result resolves when all older requests have ended.
   */
  exchange(next: HandoverParts): InFlight;
  /** Notifies clients of changed lists. */
  notify(change: ListsChanged): void;
  /** Ends the event streams that wait for notifications. Clients open them again after the retry time. */
  endStreams(): void;
  /** Refuses new requests, ends streams gracefully, gives running calls `limits.stopMs`, then ends everything. */
  stop(): Promise<void>;
}

/**
 * Makes the endpoint: guards, routes, authentication, then the server of the client's era.
 *
 * A request that is refused before it is parsed as MCP gets a problem document (RFC 9457); later refusals are JSON-RPC
 * errors with the id of the request.
 */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { limits, log, path, directPath, postOnly = false } = options;
  const service = new ReloadableService(options.service, log);
  const clientAddress = options.trustedProxies && createClientAddress(options.trustedProxies);
  const guard = createGuard({ allowedOrigins: [], allowedHosts: undefined, ...options });
  let routes = options.routes ?? NO_ROUTES;
  let { onSessionEnded = ignore } = options;
  const rejected = createRejectedTokens(log);
  let inFlight = createInFlight();
  const flights = new Set([inFlight]);
  const sharedSessions = options.sharedSessions && replaceableSessions(options.sharedSessions);
  const router = createProtocolRouter({
    ...options,
    service,
    sharedSessions,
    onSessionEnded: (ended) => onSessionEnded(ended),
  });
  let serve = servingFor(options.requests);
  let stopping: Promise<void> | undefined;

  function servingFor(requests: RequestListener | undefined): Endpoint['serve'] {
    return requests === undefined ? serveGuarded : recorded(serveGuarded, requests);
  }

  async function serveGuarded(inbound: RecordedInbound, readBody: BodyReader, plain: Responder): Promise<void> {
    const route = routeAt(routes, inbound.path);
    const verdict = guard(inbound.headers, route?.options);
    if ('refused' in verdict) {
      inbound.record?.refused(verdict.refused);
      return sendProblem(plain, 'REQUEST_REFUSED', verdict.refused);
    }
    const { origin } = verdict;
    const responder = origin === undefined ? plain : withHeaders(plain, corsHeaders(origin));
    if (stopping !== undefined) {
      inbound.record?.refused('the gateway is stopping');
      return sendProblem(responder, 'GATEWAY_STOPPING', 'retry later', STOPPING_HEADERS);
    }
    if (origin !== undefined && isPreflight(inbound)) {
      return responder.send(204, preflightHeaders(inbound.headers['access-control-request-headers']));
    }
    const flight = inFlight;
    flight.enter();
    try {
      if (route !== undefined) {
        inbound.record?.enters('route');
        await serveRoute(route, inbound, readBody, responder);
      } else if (inbound.path === path || inbound.path === directPath) {
        inbound.record?.enters('mcp');
        await serveMcp(router.streamable, inbound, readBody, responder);
      } else {
        const served = router.sseAt(inbound.path);
        if (served === undefined) return sendProblem(responder, 'ROUTE_UNKNOWN', 'nothing is served at this path');
        inbound.record?.enters('mcp');
        await serveMcp(served, inbound, readBody, responder);
      }
    } catch (cause) {
      log.error('a request failed', { path: inbound.path, cause: explainCause(cause) });
      refuse(responder, 500, INTERNAL);
    } finally {
      flight.leave();
      const recorder = inbound.record;
      if (recorder?.status === 0) recorder.clientDisconnected(); // the client disconnected before its body was complete
    }
  }

  async function serveMcp(
    served: ServedPath,
    inbound: RecordedInbound,
    readBody: BodyReader,
    responder: Responder,
  ): Promise<void> {
    const { method } = inbound;
    const isMessage = method === 'POST' && served.takesMessages;
    const bodiless = isMessage || postOnly ? undefined : served.bodiless(method);
    if (!isMessage && bodiless === undefined) {
      const allow = postOnly ? POST_ONLY : served.allow();
      return refuse(responder, 405, wireError(CODE.invalidRequest, `method ${method} is not allowed`), allow);
    }
    const found = service.identify(inbound);
    const caller = isPromise(found) ? await found : found;
    if (caller === undefined) {
      inbound.record?.refused(UNAUTHENTICATED.message);
      return refuse(responder, 401, UNAUTHENTICATED, { 'www-authenticate': 'Bearer' });
    }
    if ('refused' in caller) {
      inbound.record?.refused(caller.reason);
      rejected.note(inbound, caller);
      const retry: Record<string, string> =
        caller.status === 429 || caller.status === 503 ? { 'retry-after': String(retryAfterSeconds(caller)) } : {};
      return refuse(responder, caller.status, errorFromRefusal(caller), { ...retry, ...caller.headers });
    }
    inbound.record?.isOf(caller);
    const exchange: HttpExchange = { inbound, responder, caller };
    if (bodiless !== undefined) return bodiless(exchange);
    if (!isJsonType(inbound.headers['content-type'])) {
      return refuse(responder, 415, wireError(CODE.invalidRequest, 'Content-Type must be application/json'));
    }
    const body = await readBody();
    if (body === 'consumed') log.error('a request could not be read', { path: inbound.path, cause: CONSUMED });
    if (typeof body === 'string') return refuseBody(responder, body);
    const message = readMessage(body, limits);
    if ('misread' in message) return refuse(responder, 400, message.misread, {}, message.id);
    inbound.record?.says(message);
    const server = served.serverFor(inbound, message);
    if ('code' in server) return refuse(responder, 400, server, {}, message.kind === 'request' ? message.id : NULL_ID);
    inbound.record?.speaks(server.era);
    await server.post(exchange, message); // awaited, because returning the promise costs two more microtasks
  }

  async function stopNow(): Promise<void> {
    router.close();
    await Promise.all([...flights].map((flight) => flight.idle(limits.stopMs)));
    await router.stop();
    rejected.stop();
  }

  return {
    serve: (inbound, readBody, responder) => serve(inbound, readBody, responder),
    exchange(next) {
      const before = inFlight;
      inFlight = createInFlight();
      flights.add(inFlight);
      void before.idle(limits.callTotalMs).then(() => flights.delete(before));
      routes = next.routes ?? NO_ROUTES;
      onSessionEnded = next.onSessionEnded ?? ignore;
      serve = servingFor(next.requests);
      if (next.sharedSessions !== undefined) sharedSessions?.exchange(next.sharedSessions);
      service.exchange(next.service, next.kept);
      if (next.endStreams) router.close();
      return before;
    },
    notify: (change) => service.notify(change),
    handle(request, response, { body, mountPath } = AS_IT_CAME) {
      const responder = new NodeResponder(response);
      response.on('error', ignore); // the client disconnected: listeners of `onDisconnect` are called
      const read = body === undefined ? () => readNodeBody(request, limits) : () => givenBody(body, limits);
      void serve(new NodeInbound(request, responder, mountPath, clientAddress), read, responder);
    },
    async fetch(request, options = AS_IT_CAME) {
      const { inbound, responder, response, leave } = openWebExchange(request, options, clientAddress);
      const { body } = options;
      const read = body === undefined ? () => readWebBody(request, limits, leave) : () => givenBody(body, limits);
      void serve(inbound, read, responder);
      return response;
    },
    counts: router.counts,
    endStreams: router.close,
    stop() {
      stopping ??= stopNow();
      return stopping;
    },
  };
}

/** Serves with a record of each request for the listener. */
function recorded(serve: Endpoint['serve'], listener: RequestListener): Endpoint['serve'] {
  return (inbound, readBody, responder) => {
    const recorder = new RequestRecorder(inbound, responder, listener);
    inbound.record = recorder;
    return serve(inbound, readBody, recorder);
  };
}

function isPreflight({ method, headers }: Inbound): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function refuse(
  responder: Responder,
  status: number,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
  id = NULL_ID,
): void {
  sendError(responder, status, { 'content-type': 'application/json', ...headers }, id, error);
}

function refuseBody(responder: Responder, fault: BodyFault): void {
  if (fault === 'gone') return;
  const { status, text } = BODY_FAULTS[fault];
  // The rest of the body is not read: the connection ends after the response.
  refuse(responder, status, wireError(CODE.invalidRequest, text), { connection: 'close' });
}

const BODY_FAULTS = {
  consumed: { status: 500, text: CONSUMED },
  tooLarge: { status: 413, text: 'the request body is too large' },
  tooSlow: { status: 408, text: 'the request body took too long' },
} as const satisfies Record<Exclude<BodyFault, 'gone'>, { readonly status: number; readonly text: string }>;

const UNAUTHENTICATED = wireError(401, 'authentication is required');

const POST_ONLY = { allow: 'POST, OPTIONS' };

const STOPPING_HEADERS = { 'retry-after': '1', connection: 'close' };

const AS_IT_CAME: HandleOptions = {};

const ignore = (): void => {};
