import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type PageAccess, pageRefusal } from './page-access.ts';

/** A route of the host itself: GET and HEAD, a JSON response unless `type` is set. */
export interface HostRoute {
  readonly path: string;
  /** All paths below `path`, which ends with `/`. */
  readonly isPrefix?: boolean;
  /** Who may read it, evaluated for each request; everyone when absent or `undefined`. */
  readonly access?: () => PageAccess | undefined;
  /** Evaluated for each request: `false` passes it to the gateway. `true` when absent. */
  readonly isOfHost?: () => boolean;
  /** Host names that are accepted beside those of the listener, evaluated for each request: for routes that name no backend. */
  readonly publicHosts?: () => readonly string[] | undefined;
  answer(query: URLSearchParams, request: HostRequest): HostAnswer | Promise<HostAnswer>;
}

/** The part of a request that a route may read beside its query. */
export interface HostRequest {
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Response of a host route. */
export interface HostAnswer {
  readonly status: number;
  /** An object is sent as JSON, bytes as they are. */
  readonly body: object | string | Buffer;
  /** Media type of a text. */
  readonly type?: string;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent after `body`, until it ends or `signal` aborts because the client is gone. */
  readonly stream?: (signal: AbortSignal) => AsyncIterable<string>;
}

/**
 * Creates the handler of the routes. Other methods get 405; unknown `Host` names get 403, against DNS rebinding.
 *
 * fastify is loaded at the first request for a route: no call needs it, and it takes as long to load as the core.
 */
export function answerHostRoutes(
  routes: readonly HostRoute[],
  allowedHosts: readonly string[] | undefined,
): RequestListener {
  const allowed = allowedHosts === undefined ? undefined : new Set(allowedHosts.map((name) => name.toLowerCase()));
  let opened: Promise<RequestListener> | undefined;
  return (request, response) => {
    opened ??= openRouter(routes, allowed);
    opened.then(
      (answer) => answer(request, response),
      () => sendLoadFailure(response),
    );
  };
}

async function openRouter(
  routes: readonly HostRoute[],
  allowed: ReadonlySet<string> | undefined,
): Promise<RequestListener> {
  const { default: fastify } = await import('fastify');
  // no route has a schema, so fastify's schema compilers are not loaded
  const compilersFactory = { buildValidator: noSchemas, buildSerializer: noSchemas };
  const app = fastify({ logger: false, exposeHeadRoutes: false, schemaController: { compilersFactory } });
  for (const route of routes) {
    app.all(
      route.isPrefix ? `${route.path}*` : route.path,
      { onRequest: (request, reply, _done) => void respond(route, allowed, request, reply) },
      () => undefined,
    );
  }
  await app.ready();
  return (request: IncomingMessage, response: ServerResponse) => app.routing(request, response);
}

function noSchemas(): never {
  throw new Error('host routes cannot have a schema: the schema compilers are not loaded');
}

/** fastify is missing or broken: only host routes fail. */
function sendLoadFailure(response: ServerResponse): void {
  response.writeHead(500, { 'cache-control': 'no-store' }).end();
}

async function respond(
  route: HostRoute,
  allowed: ReadonlySet<string> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
  if (!acceptsHost(route, allowed, hostName(request.headers.host))) {
    return problem(reply, 403, 'Forbidden', 'this Host name is not allowed');
  }
  const access = route.access?.();
  const refusal = access && pageRefusal(access, request.headers);
  if (refusal !== undefined) {
    if (refusal.challenge !== undefined) reply.header('www-authenticate', refusal.challenge);
    return problem(reply, refusal.status, refusal.title, refusal.detail);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    reply.header('allow', 'GET, HEAD');
    return problem(reply, 405, 'Method Not Allowed', `${route.path} answers GET and HEAD`);
  }
  try {
    const {
      status,
      body,
      type = 'application/json',
      headers = {},
      stream,
    } = await route.answer(queryOf(request.url), { path: request.url.replace(/\?.*$/s, ''), headers: request.headers });
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    reply.code(status).type(type).headers(headers);
    if (stream === undefined || request.method === 'HEAD') reply.send(text);
    else reply.send(readable(text.toString(), stream, request.raw));
  } catch {
    problem(reply, 500, 'Internal Server Error', 'the response could not be created');
  }
}

function acceptsHost({ publicHosts }: HostRoute, allowed: ReadonlySet<string> | undefined, name: string): boolean {
  return (
    allowed === undefined || allowed.has(name) || publicHosts?.()?.some((one) => one.toLowerCase() === name) === true
  );
}

/** Reads the source as fast as the client reads, and ends it when the client is gone. */
function readable(
  first: string,
  stream: (signal: AbortSignal) => AsyncIterable<string>,
  { socket }: IncomingMessage,
): Readable {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  async function* chunks(): AsyncGenerator<string> {
    if (first !== '') yield first;
    yield* stream(gone.signal);
  }
  return Readable.from(chunks());
}

function queryOf(target: string): URLSearchParams {
  return new URL(target, 'http://host').searchParams;
}

/** RFC 9457. */
function problem(reply: FastifyReply, status: number, title: string, detail: string): void {
  reply
    .code(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'about:blank', title, status, detail }));
}

function hostName(header: string | undefined): string {
  return (header ?? '').replace(/:\d+$/, '').toLowerCase();
}
