import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound, Responder } from '../contract/inbound.ts';
import type { MessageClient, MessageConnection } from '../contract/message-client.ts';
import type { RequestListener } from '../contract/request-record.ts';
import type { MountedRoutes, RouteReply } from '../contract/route.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import type { ByteBudget } from '../mcp/byte-budget.ts';
import { INTERNAL } from '../mcp/envelope.ts';
import { networkOf } from '../mcp/shares.ts';
import type { GatewayService, ListsChanged } from '../pipeline/gateway-service.ts';
import { createInFlight, type InFlight } from '../timing/in-flight.ts';
import { replaceableSessions, type SharedSessions } from './era-2025-11-25/sessions/session-store.ts';
import { type BodyReader, givenBody, readNodeBody, readWebBody } from './http/body.ts';
import { createClientAddress } from './http/client-address.ts';
import { type FetchOptions, openWebExchange } from './http/fetch-adapter.ts';
import { type HandleOptions, NodeInbound, NodeResponder } from './http/node-adapter.ts';
import { corsHeaders, createGuard, preflightHeaders, withHeaders } from './http/origin.ts';
import type { RecordedInbound } from './http/request-recorder.ts';
import { RecordedResponder } from './http/request-recorder.ts';
import { NO_ROUTES, noBody, readExchange, routeAt, sendProblem, serveRoute } from './http/routes.ts';
import type { SseOptions } from './http-sse/message-uri.ts';
import { connectClient } from './message-connection.ts';
import { createProtocolRouter } from './protocol-router.ts';
import { sendError } from './refuse.ts';
import { createRejectedTokens } from './rejected-tokens.ts';
import { ReloadableService } from './reloadable-service.ts';
import { createMcpPath } from './serve-mcp.ts';

/** Settings and dependencies of an endpoint. */
export interface EndpointOptions {
  readonly service: GatewayService;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  /** Path of MCP, e.g. `/mcp`. */
  readonly path: string;
  /** A second path of the same endpoint; the gateway decides what each path serves. */
  readonly directPath?: string | undefined;
  /** Serves the transport HTTP+SSE at paths of its own. */
  readonly sse?: SseOptions | undefined;
  /** Allowed host names; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** See `GuardOptions`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** See `GuardOptions`. */
  readonly originOption?: string | undefined;
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
  /** Answers one Node request. */
  handle(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void;
  /** Answers one web-standard request. Rejects only when the options are wrong. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /** Answers GET at the path of a route without the guard. */
  read(path: string): Promise<RouteReply>;
  /** Serves a client with one connection for its messages. */
  connect(client: MessageClient): MessageConnection;
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
  const { limits, bytes, log, path, directPath } = options;
  const service = new ReloadableService(options.service, log);
  const clientAddress = options.trustedProxies && createClientAddress(options.trustedProxies);
  const guard = createGuard(options);
  let routes = options.routes ?? NO_ROUTES;
  let { onSessionEnded = ignore } = options;
  const rejected = createRejectedTokens(log);
  const serveMcp = createMcpPath({ service, limits, log, rejected, postOnly: options.postOnly === true });
  let inFlight = createInFlight();
  const flights = new Set([inFlight]);
  const sharedSessions = options.sharedSessions && replaceableSessions(options.sharedSessions);
  const router = createProtocolRouter({
    ...options,
    service,
    sharedSessions,
    onSessionEnded: (ended) => onSessionEnded(ended),
  });
  let { requests } = options;
  let serve = servingFor(requests);
  let stopping: Promise<void> | undefined;

  function servingFor(listener: RequestListener | undefined): Serve {
    return listener === undefined ? serveGuarded : recorded(serveGuarded, listener);
  }

  async function serveGuarded(inbound: RecordedInbound, readBody: BodyReader, plain: Responder): Promise<void> {
    if (inbound.ambiguity !== undefined) {
      inbound.record?.refused(inbound.ambiguity);
      return sendProblem(plain, 'REQUEST_AMBIGUOUS', inbound.ambiguity, CLOSE);
    }
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
        inbound.held?.belongsTo(networkOf(inbound.remoteAddress));
        await serveRoute(route, inbound, readBody, responder);
      } else if (inbound.path === path || inbound.path === directPath) {
        inbound.record?.enters('mcp');
        await serveMcp(router.streamable, inbound, readBody, responder);
      } else {
        const served = router.sseAt(inbound.path);
        if (served === undefined) return sendProblem(responder, 'ROUTE_UNKNOWN', NO_ROUTE);
        inbound.record?.enters('mcp');
        await serveMcp(served, inbound, readBody, responder);
      }
    } catch (cause) {
      log.error('a request failed', { path: inbound.path, cause: explainCause(cause) });
      sendError(responder, 500, INTERNAL);
    } finally {
      flight.leave();
      plain.served?.();
      const recorder = inbound.record;
      if (recorder?.status === 0) recorder.clientDisconnected(); // the client disconnected before its body was complete
    }
  }

  async function stopNow(): Promise<void> {
    router.close();
    await Promise.all([...flights].map((flight) => flight.idle(limits.stopMs)));
    await router.stop();
    rejected.stop();
  }

  return {
    exchange(next) {
      const before = inFlight;
      inFlight = createInFlight();
      flights.add(inFlight);
      void before.idle(limits.callTotalMs).then(() => flights.delete(before));
      routes = next.routes ?? NO_ROUTES;
      onSessionEnded = next.onSessionEnded ?? ignore;
      ({ requests } = next);
      serve = servingFor(requests);
      if (next.sharedSessions !== undefined) sharedSessions?.exchange(next.sharedSessions);
      service.exchange(next.service, next.kept);
      if (next.endStreams) router.close();
      return before;
    },
    notify: (change) => service.notify(change),
    handle(request, response, { body, mountPath } = AS_IT_CAME) {
      const held = bytes.holder();
      const responder = new NodeResponder(response, held, limits.sendTimeoutMs);
      response.on('error', ignore); // the client disconnected: listeners of `onDisconnect` are called
      const read = body === undefined ? () => readNodeBody(request, limits, held) : () => givenBody(body, limits);
      void serve(new NodeInbound(request, responder, held, mountPath, clientAddress), read, responder);
    },
    async fetch(request, options = AS_IT_CAME) {
      const held = bytes.holder();
      const { inbound, responder, response, leave } = openWebExchange(request, held, options, clientAddress);
      const { body } = options;
      const read = body === undefined ? () => readWebBody(request, limits, leave, held) : () => givenBody(body, limits);
      void serve(inbound, read, responder);
      return response;
    },
    async read(path) {
      const { inbound, responder, reply } = readExchange(path);
      const answer: Serve = async (inbound, readBody, responder) => {
        const route = routeAt(routes, path);
        if (route === undefined) return sendProblem(responder, 'ROUTE_UNKNOWN', NO_ROUTE);
        inbound.record?.enters('route');
        await serveRoute(route, inbound, readBody, responder);
      };
      await (requests === undefined ? answer : recorded(answer, requests))(inbound, noBody, responder);
      return reply;
    },
    connect: (client) =>
      connectClient(
        {
          ...{ service, router, limits, log, rejected, path },
          requests: () => requests,
          isStopping: () => stopping !== undefined,
          enter() {
            const flight = inFlight;
            flight.enter();
            return flight.leave;
          },
        },
        client,
      ),
    counts: router.counts,
    endStreams: router.close,
    stop() {
      stopping ??= stopNow();
      return stopping;
    },
  };
}

/** Answers one HTTP request. Never rejects. */
type Serve = (inbound: RecordedInbound, readBody: BodyReader, responder: Responder) => Promise<void>;

/** Serves with a record of each request for the listener. */
function recorded(serve: Serve, listener: RequestListener): Serve {
  return (inbound, readBody, responder) => {
    const recorder = new RecordedResponder(inbound, responder, listener);
    inbound.record = recorder;
    return serve(inbound, readBody, recorder);
  };
}

function isPreflight({ method, headers }: Inbound): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

const CLOSE = { connection: 'close' };
const STOPPING_HEADERS = { 'retry-after': '1', connection: 'close' };

const NO_ROUTE = 'nothing is served at this path';

const AS_IT_CAME: HandleOptions = {};

const ignore = (): void => {};
