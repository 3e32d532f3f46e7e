import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WireError } from '../contract/call.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound, Responder } from '../contract/inbound.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { exchangeable, type SessionBook } from '../session/session-book.ts';
import { openDesk } from './desk.ts';
import type { Exchange } from './edge.ts';
import { errorBytes, errorFromRefusal, INTERNAL, retryAfterSeconds } from './envelope.ts';
import { CODE, wireError } from './errors.ts';
import { HouseDoor } from './house-door.ts';
import { type BodyFault, type BodyReader, givenBody, readNodeBody, readWebBody } from './http/body.ts';
import { createInFlight, type InFlight } from './http/in-flight.ts';
import { isJsonType } from './http/media.ts';
import { type HandleOptions, NodeInbound, NodeResponder } from './http/node-door.ts';
import { corsHeaders, createGuard, preflightHeaders } from './http/origin.ts';
import { sendProblem } from './http/problem.ts';
import { CONSUMED, type MountedRoutes, serveRoute } from './http/routes.ts';
import { type RequestListener, Visit, visitOf } from './http/visit.ts';
import { openWebExchange } from './http/web-door.ts';
import { withHeaders } from './http/with-headers.ts';
import type { House, ListsChanged } from './intent.ts';
import type { Limits } from './limits.ts';
import { NULL_ID, readMessage } from './message.ts';
import { createRejectedTokens } from './rejected-tokens.ts';

/** What an endpoint is made of. */
export interface EndpointOptions {
  readonly house: House;
  readonly limits: Limits;
  /** Where MCP is served, e.g. `/mcp`. */
  readonly path: string;
  /** A second path of the same endpoint; the house tells what is behind which. */
  readonly directPath?: string | undefined;
  /** Host names served; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Exact Origin values served besides loopback ones. */
  readonly allowedOrigins?: readonly string[];
  readonly loopback: boolean;
  /** See `EdgeParts`. */
  readonly strictProtocolVersion?: boolean;
  /** Routes beside the endpoint; they come before it. */
  readonly routes?: MountedRoutes;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
  /** The legacy sessions of all replicas. */
  readonly book?: SessionBook | undefined;
  onSessionEnded?(ended: SessionEnded): void;
  /** Hears of every request; without it no record is kept. */
  readonly requests?: RequestListener | undefined;
}

/** What a gateway brings that takes the place of another at one endpoint. */
export interface Successor extends Pick<EndpointOptions, 'house' | 'routes' | 'requests' | 'book' | 'onSessionEnded'> {
  /** Backends that it has taken over as they are. */
  readonly kept: ReadonlySet<string>;
  /** Callers are known in another way than before: streams are opened anew, so that their callers are looked at. */
  readonly endStreams: boolean;
}

/** The client-facing edge of a gateway. */
export interface Endpoint {
  /** Answers one request, wherever it came from. Never rejects. */
  serve(inbound: Inbound, readBody: BodyReader, responder: Responder): Promise<void>;
  /** Answers one Node request. */
  handle(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void;
  /** Answers one web-standard request. */
  fetch(request: Request): Promise<Response>;
  /** Live sessions and open event streams. */
  counts(): { readonly sessions: number; readonly streams: number };
  /**
   * Another gateway takes this one's place at the door: requests from now on are its own, sessions and streams stay.
   * Resolves, as the result says, when the requests before have ended.
   */
  exchange(next: Successor): InFlight;
  /** Tells clients of changed lists. */
  tell(change: ListsChanged): void;
  /** Refuses new requests, ends streams gracefully, gives running calls `limits.stopMs`, then ends everything. */
  stop(): Promise<void>;
}

/**
 * Makes the endpoint: guards, routes, authentication, then the edge of the client's era.
 *
 * A request that is refused before it is known to be MCP gets a problem document (RFC 9457), after that a JSON-RPC
 * error with the id of its request.
 */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { limits, log, path, directPath } = options;
  const house = new HouseDoor(options.house, log);
  const guard = createGuard({ allowedOrigins: [], allowedHosts: undefined, ...options });
  let routes: MountedRoutes = options.routes ?? new Map();
  let { onSessionEnded = ignore } = options;
  const rejected = createRejectedTokens(log);
  let inFlight = createInFlight();
  const flights = new Set([inFlight]);
  const book = options.book && exchangeable(options.book);
  const desk = openDesk({ ...options, house, book, onSessionEnded: (ended) => onSessionEnded(ended) });
  let serve = servingFor(options.requests);
  let stopping: Promise<void> | undefined;

  function servingFor(requests: RequestListener | undefined): Endpoint['serve'] {
    return requests === undefined ? serveGuarded : recorded(serveGuarded, requests);
  }

  async function serveGuarded(inbound: Inbound, readBody: BodyReader, plain: Responder): Promise<void> {
    const verdict = guard(inbound.headers);
    if ('refused' in verdict) {
      visitOf(inbound)?.refused(verdict.refused);
      return sendProblem(plain, 'REQUEST_REFUSED', verdict.refused);
    }
    const { origin } = verdict;
    const responder = origin === undefined ? plain : withHeaders(plain, corsHeaders(origin));
    if (stopping !== undefined) {
      visitOf(inbound)?.refused('the gateway is stopping');
      return sendProblem(responder, 'GATEWAY_STOPPING', 'try again later', STOPPING_HEADERS);
    }
    if (origin !== undefined && isPreflight(inbound)) {
      return responder.send(204, preflightHeaders(inbound.headers['access-control-request-headers']));
    }
    const flight = inFlight;
    flight.enter();
    try {
      const route = routes.get(inbound.path);
      if (route !== undefined) {
        visitOf(inbound)?.enters('route');
        await serveRoute(route, inbound, readBody, responder);
      } else if (inbound.path === path || inbound.path === directPath) {
        visitOf(inbound)?.enters('mcp');
        await serveMcp(inbound, readBody, responder);
      } else sendProblem(responder, 'ROUTE_UNKNOWN', 'nothing is served at this path');
    } catch (cause) {
      log.error('a request failed', { path: inbound.path, cause: explainCause(cause) });
      refuse(responder, 500, INTERNAL);
    } finally {
      flight.leave();
      const visit = visitOf(inbound);
      if (visit?.status === 0) visit.leave(); // it went away with its body half sent: there was nobody to answer
    }
  }

  async function serveMcp(inbound: Inbound, readBody: BodyReader, responder: Responder): Promise<void> {
    const { method } = inbound;
    const bodiless = method === 'POST' ? undefined : desk.bodiless(method);
    if (method !== 'POST' && bodiless === undefined) {
      return refuse(responder, 405, wireError(CODE.invalidRequest, `method ${method} is not allowed`), desk.allow());
    }
    const found = house.identify(inbound);
    const caller = found instanceof Promise ? await found : found;
    if (caller === undefined) {
      visitOf(inbound)?.refused(UNAUTHENTICATED.message);
      return refuse(responder, 401, UNAUTHENTICATED, { 'www-authenticate': 'Bearer' });
    }
    if ('refused' in caller) {
      visitOf(inbound)?.refused(caller.reason);
      rejected.note(inbound, caller);
      const retry: Record<string, string> =
        caller.status === 429 || caller.status === 503 ? { 'retry-after': String(retryAfterSeconds(caller)) } : {};
      return refuse(responder, caller.status, errorFromRefusal(caller), { ...retry, ...caller.headers });
    }
    visitOf(inbound)?.isOf(caller);
    const exchange: Exchange = { inbound, responder, caller };
    if (bodiless !== undefined) return bodiless(exchange);
    if (!isJsonType(inbound.headers['content-type'])) {
      return refuse(responder, 415, wireError(CODE.invalidRequest, 'Content-Type must be application/json'));
    }
    const body = await readBody();
    if (body === 'consumed') log.error('a request could not be read', { path: inbound.path, cause: CONSUMED });
    if (typeof body === 'string') return refuseBody(responder, body);
    const message = readMessage(body, limits);
    if ('misread' in message) return refuse(responder, 400, message.misread, {}, message.id);
    visitOf(inbound)?.says(message);
    const edge = desk.edgeFor(inbound, message);
    if ('code' in edge) return refuse(responder, 400, edge, {}, message.kind === 'request' ? message.id : NULL_ID);
    visitOf(inbound)?.speaks(edge.era);
    await edge.post(exchange, message); // returned, it would cost two more turns of the microtask queue
  }

  async function stopNow(): Promise<void> {
    desk.close();
    await Promise.all([...flights].map((flight) => flight.idle(limits.stopMs)));
    await desk.stop();
    rejected.stop();
  }

  return {
    serve: (inbound, readBody, responder) => serve(inbound, readBody, responder),
    exchange(next) {
      const before = inFlight;
      inFlight = createInFlight();
      flights.add(inFlight);
      void before.idle(limits.callTotalMs).then(() => flights.delete(before));
      routes = next.routes ?? new Map();
      onSessionEnded = next.onSessionEnded ?? ignore;
      serve = servingFor(next.requests);
      if (next.book !== undefined) book?.exchange(next.book);
      house.exchange(next.house, next.kept);
      if (next.endStreams) desk.close();
      return before;
    },
    tell: (change) => house.tell(change),
    handle(request, response, { body, mountPath } = AS_IT_CAME) {
      const responder = new NodeResponder(response);
      response.on('error', ignore); // the client has gone: `onGone` tells those who care
      const read = body === undefined ? () => readNodeBody(request, limits) : () => givenBody(body, limits);
      void serve(new NodeInbound(request, responder, mountPath), read, responder);
    },
    async fetch(request) {
      const { inbound, responder, response } = openWebExchange(request);
      void serve(inbound, () => readWebBody(request, limits), responder);
      return response;
    },
    counts: desk.counts,
    stop() {
      stopping ??= stopNow();
      return stopping;
    },
  };
}

/** The same serving, with a record of each request for those who listen. */
function recorded(serve: Endpoint['serve'], listener: RequestListener): Endpoint['serve'] {
  return (inbound, readBody, responder) => {
    const visit = new Visit(inbound, responder, listener);
    inbound.record = visit;
    return serve(inbound, readBody, visit);
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
  responder.send(status, { 'content-type': 'application/json', ...headers }, errorBytes(id, error));
}

function refuseBody(responder: Responder, fault: BodyFault): void {
  if (fault === 'gone') return;
  const { status, text } = BODY_FAULTS[fault];
  // What is left of the body is not worth reading: the connection ends with the answer.
  refuse(responder, status, wireError(CODE.invalidRequest, text), { connection: 'close' });
}

const BODY_FAULTS = {
  consumed: { status: 500, text: CONSUMED },
  tooLarge: { status: 413, text: 'the request body is too large' },
  tooSlow: { status: 408, text: 'the request body took too long' },
} as const satisfies Record<Exclude<BodyFault, 'gone'>, { readonly status: number; readonly text: string }>;

const UNAUTHENTICATED = wireError(401, 'authentication is required');

const STOPPING_HEADERS = { 'retry-after': '1', connection: 'close' };

const AS_IT_CAME: HandleOptions = {};

const ignore = (): void => {};
