import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asker, WireError } from '../contract/call.ts';
import type { Era } from '../contract/era.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound, Responder } from '../contract/inbound.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { SessionBook } from '../session/session-book.ts';
import { claimOf, eraOf } from './classify.ts';
import type { Edge, EdgeParts, Exchange } from './edge.ts';
import { errorBytes, errorFromRefusal, INTERNAL, retryAfterSeconds } from './envelope.ts';
import { createLegacyEdge } from './era-2025-11-25/edge.ts';
import { createModernEdge, MODERN_VERSIONS } from './era-2026-07-28/edge.ts';
import { unsupportedVersion } from './era-2026-07-28/ladder.ts';
import { CODE, wireError } from './errors.ts';
import { type BodyFault, type BodyReader, readNodeBody, readWebBody } from './http/body.ts';
import { createInFlight } from './http/in-flight.ts';
import { isJsonType } from './http/media.ts';
import { NodeInbound, NodeResponder } from './http/node-door.ts';
import { corsHeaders, createGuard, preflightHeaders } from './http/origin.ts';
import { sendProblem } from './http/problem.ts';
import { type MountedRoutes, serveRoute } from './http/routes.ts';
import { type RequestListener, Visit, visitOf } from './http/visit.ts';
import { openWebExchange } from './http/web-door.ts';
import { withHeaders } from './http/with-headers.ts';
import type { House } from './intent.ts';
import type { Limits } from './limits.ts';
import { type Message, NULL_ID, readMessage } from './message.ts';
import { createPulse } from './pulse.ts';
import { encode } from './raw-json.ts';

/** What an endpoint is made of. */
export interface EndpointOptions {
  readonly house: House;
  readonly limits: Limits;
  /** Where MCP is served, e.g. `/mcp`. */
  readonly path: string;
  /** Host names served; `undefined` = loopback names when `loopback`, any otherwise. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Exact Origin values served besides loopback ones. */
  readonly allowedOrigins?: readonly string[];
  readonly loopback: boolean;
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

/** The client-facing edge of a gateway. */
export interface Endpoint {
  /** Answers one request, wherever it came from. Never rejects. */
  serve(inbound: Inbound, readBody: BodyReader, responder: Responder): Promise<void>;
  /** Answers one Node request. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Answers one web-standard request. */
  fetch(request: Request): Promise<Response>;
  /** Live sessions and open event streams. */
  counts(): { readonly sessions: number; readonly streams: number };
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
  const { house, limits, log } = options;
  const guard = createGuard({ allowedOrigins: [], allowedHosts: undefined, ...options });
  const routes: MountedRoutes = options.routes ?? new Map();
  const inFlight = createInFlight();
  const desk = openDesk(options);
  const serve = options.requests === undefined ? serveGuarded : recorded(serveGuarded, options.requests);
  let stopping: Promise<void> | undefined;

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
      return sendProblem(responder, 'GATEWAY_STOPPING', 'try again later');
    }
    if (origin !== undefined && isPreflight(inbound)) {
      return responder.send(204, preflightHeaders(inbound.headers['access-control-request-headers']));
    }
    inFlight.enter();
    try {
      const route = routes.get(inbound.path);
      if (route !== undefined) {
        visitOf(inbound)?.enters('route');
        await serveRoute(route, inbound, readBody, responder);
      } else if (inbound.path === options.path) {
        visitOf(inbound)?.enters('mcp');
        await serveMcp(inbound, readBody, responder);
      } else sendProblem(responder, 'ROUTE_UNKNOWN', 'nothing is served at this path');
    } catch (cause) {
      log.error('a request failed', { path: inbound.path, cause: explainCause(cause) });
      refuse(responder, 500, INTERNAL);
    } finally {
      inFlight.leave();
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
    if (typeof body === 'string') return refuseBody(responder, body);
    const message = readMessage(body);
    if ('misread' in message) return refuse(responder, 400, message.misread, {}, message.id);
    visitOf(inbound)?.says(message);
    const edge = desk.edgeFor(inbound, message);
    if ('code' in edge) return refuse(responder, 400, edge, {}, message.kind === 'request' ? message.id : NULL_ID);
    visitOf(inbound)?.speaks(edge.era);
    return edge.post(exchange, message);
  }

  async function stopNow(): Promise<void> {
    desk.close();
    await inFlight.idle(limits.stopMs);
    await desk.stop();
  }

  return {
    serve,
    handle(request, response) {
      const responder = new NodeResponder(response);
      response.on('error', ignore); // the client has gone: `onGone` tells those who care
      void serve(new NodeInbound(request, responder), () => readNodeBody(request, limits), responder);
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
  return async (inbound, readBody, responder) => {
    const visit = new Visit(inbound, responder, listener);
    inbound.record = visit;
    await serve(inbound, readBody, visit);
    if (visit.status === 0) visit.leave(); // the client went away with its body half sent: there was nobody to answer
  };
}

/** The edges of one endpoint, and which of them a request goes to. */
function openDesk({ house, limits, log, now, book, onSessionEnded }: EndpointOptions) {
  const pulse = createPulse(limits.keepAliveMs, (cause) => log.error('a beat failed', { cause: explainCause(cause) }));
  const parts: EdgeParts = { house, limits, log, pulse, now };
  const face = once(() => house.face(NOBODY));
  const serverInfo = once(() => encode(face().serverInfo));
  const supported = once(() => edges.filter(isServed).flatMap(({ versions }) => versions.slice(0, 1)));
  const legacy = createLegacyEdge({ ...parts, book, onSessionEnded: onSessionEnded ?? ignore });
  const modern = createModernEdge({ ...parts, supported, serverInfo });
  const edges: readonly Edge[] = [modern, legacy];
  const isServed = (edge: Edge): boolean => face().eras.includes(edge.era);
  const byEra = new Map<Era, Edge>(edges.map((edge) => [edge.era, edge]));
  const evidence = { modernVersions: MODERN_VERSIONS, isLegacySession: legacy.owns };

  return {
    edgeFor(inbound: Inbound, message: Message): Edge | WireError {
      const edge = byEra.get(eraOf(message, inbound.headers, evidence));
      if (edge !== undefined && isServed(edge)) return edge;
      // Without the modern era the probe of modern clients is answered as older servers do: they go on to initialize.
      if (message.kind === 'request' && message.method === 'server/discover') return legacy;
      return unsupportedVersion(claimOf(message) ?? inbound.headers['mcp-protocol-version'], supported());
    },
    bodiless(method: string): ((exchange: Exchange) => void | Promise<void>) | undefined {
      if (method !== 'GET' && method !== 'DELETE') return undefined;
      return edges.find((edge) => edge.methods[method] !== undefined && isServed(edge))?.methods[method];
    },
    allow(): Readonly<Record<string, string>> {
      const more = edges.filter(isServed).flatMap(({ methods }) => Object.keys(methods));
      return { allow: ['POST', ...more].join(', ') };
    },
    counts() {
      const all = edges.map((edge) => edge.counts());
      return {
        sessions: all.reduce((sum, { sessions }) => sum + sessions, 0),
        streams: all.reduce((sum, { streams }) => sum + streams, 0),
      };
    },
    close: () => edges.forEach((edge) => void edge.close()),
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      pulse.stop();
    },
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
  tooLarge: { status: 413, text: 'the request body is too large' },
  tooSlow: { status: 408, text: 'the request body took too long' },
} as const satisfies Record<Exclude<BodyFault, 'gone'>, { readonly status: number; readonly text: string }>;

const UNAUTHENTICATED = wireError(401, 'authentication is required');

/** Who asks when the gateway wants to know its own face. */
const NOBODY: Asker = {
  era: '2026-07-28',
  capabilities: {},
  clientInfo: undefined,
  owner: {
    key: 'nobody',
    caller: { issuer: '', subject: 'anonymous', key: '\0anonymous', claims: {} },
    capabilities: {},
    capabilityClass: '',
  },
  progressToken: undefined,
  logLevel: undefined,
  tell: () => {},
};

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const ignore = (): void => {};
