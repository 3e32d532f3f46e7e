import type { IncomingMessage, ServerResponse } from 'node:http';
import { createPreflight, explainCause, missingPackage } from '@toolmgr/core';
import { type Operation, type Problem, problem, problemBody } from '@toolmgr/plugins/kit/operations';
import { storageFault } from '@toolmgr/plugins/kit/workloads';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Access, type AccessRefusal, accessRequest, setCaller } from './access.ts';
import { problemFromFault } from './fastify-faults.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { sendJson } from './json-reply.ts';
import { HTTP_LIMITS } from './limits.ts';
import { createMethodTable } from './method-table.ts';
import { mistakeProblem } from './mistake.ts';
import { mountOperation, type OperationHost, routePath } from './mount-operation.ts';
import { openApiDocument } from './openapi.ts';
import { parseJsonBody } from './parse-body.ts';
import { sendProblem } from './problem-reply.ts';

/**
 * A path that is answered without fastify, such as an MCP endpoint. The caller is known, unless it is `open`. It checks Origin.
 */
export interface RawRoute {
  readonly path: string;
  /** No token is needed. */
  readonly open?: boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** Routes without a token: they show nothing of this machine. */
export type OpenRoutes = (app: FastifyInstance) => void;

/** The HTTP application. */
export type ManagerApp = FastifyInstance;

/** What the HTTP application serves. */
export interface AppOptions extends GuardOptions {
  readonly operations: readonly Operation[];
  /** Operations that need no token. They have checks of their own. */
  readonly openOperations?: readonly Operation[];
  readonly access: Access;
  readonly host: OperationHost;
  readonly version: string;
  /** Value of `X-Toolmgr-Nonce` at `/health`: proves that the process in the discovery file answers. */
  readonly nonce: string;
  /** Why the manager is not healthy; `undefined` when it is. */
  health?(): Promise<string | undefined>;
  /** The page in the browser. */
  readonly openRoutes?: readonly OpenRoutes[];
  readonly rawRoutes?: readonly RawRoute[];
  /** Which origins the raw routes accept, for preflights: these come without a token, and no gateway is opened for them. */
  readonly rawGuard?: Parameters<typeof createPreflight>[0];
}

/** Creates the HTTP application of the manager; it does not listen yet. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { operations, openOperations = [], host } = options;
  const app = Fastify({
    logger: false,
    // requests are validated by the schemas of the operations, so fastify's compilers are not loaded
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    bodyLimit: HTTP_LIMITS.bodyBytes,
    routerOptions: { maxParamLength: HTTP_LIMITS.parameterLength },
    exposeHeadRoutes: false,
    requestTimeout: HTTP_LIMITS.bodyTimeoutMs,
    keepAliveTimeout: HTTP_LIMITS.idleTimeoutMs,
    http: { maxHeaderSize: HTTP_LIMITS.headerBytes, headersTimeout: HTTP_LIMITS.headerTimeoutMs },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (fault, _request, reply) => {
      void reply.headers(SAFE_HEADERS);
      void sendFault(fault, reply as FastifyReply, host);
    },
    clientErrorHandler: (fault, socket) => {
      if (fault.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
      socket.end(rawProblem(CLIENT_ERRORS[fault.code ?? ''] ?? NOT_HTTP));
    },
  });
  protect(app, options);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    parseJsonBody(body),
  );
  app.setErrorHandler((fault: FastifyError, _request, reply) => sendFault(fault, reply, host));
  const all = [...openOperations, ...operations];
  const methods = createMethodTable(all);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods.at(request.url);
    if (allowed === undefined) return sendProblem(reply, problem('not_found', 'nothing is served at this path'));
    void reply.header('allow', allowed.join(', '));
    return sendProblem(reply, problem('method_not_allowed', `this path is served with ${allowed.join(', ')}`));
  });
  for (const operation of all) mountOperation(app, operation, host);
  for (const { path, refused } of methods.hidden) {
    app.route({ method: [...refused], url: routePath(path), handler: (_request, reply) => reply.callNotFound() });
  }
  const document = JSON.stringify(openApiDocument({ operations, openOperations }, options.version));
  app.get('/api/openapi.json', OPEN, (_request, reply) => sendJson(reply, document));
  app.get('/health', OPEN, async (_request, reply) => {
    void reply.header('x-toolmgr-nonce', options.nonce);
    const ill = await options.health?.();
    return ill === undefined ? reply.code(204).send() : sendProblem(reply, problem('engine_unavailable', ill));
  });
  for (const route of options.rawRoutes ?? []) mountRaw(app, route);
  for (const mount of options.openRoutes ?? []) await app.register(async (inner) => mount(inner));
  await app.ready();
  return app;
}

function noSchemas(): never {
  throw new Error('routes of the manager cannot have a schema of fastify');
}

const OPEN = { config: { open: true } } as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** No token is needed. */
    readonly open?: boolean;
    /** The route checks Origin itself; `any`: every page may read it. */
    readonly checksOrigin?: true | 'any';
  }
}

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

function protect(app: FastifyInstance, options: AppOptions): void {
  const guard = createGuard(options);
  const preflight = createPreflight(options.rawGuard ?? { loopback: true });
  const open = new Set((options.openOperations ?? []).map(({ method, path }) => `${method} ${routePath(path)}`));
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SAFE_HEADERS);
    if (request.url.length > HTTP_LIMITS.urlBytes) {
      return sendProblem(reply, problem('uri_too_long', `the URL is longer than ${HTTP_LIMITS.urlBytes} characters`));
    }
    const { config, url = '' } = request.routeOptions;
    const refused = guard(request.headers, request.url, config.checksOrigin !== undefined);
    if (refused !== undefined) return sendProblem(reply, refused);
    if (config.checksOrigin !== undefined && isPreflight(request)) {
      const given = request.headers as Readonly<Record<string, string>>;
      const { status, headers } = preflight(given, config.checksOrigin === 'any' ? { origins: 'any' } : undefined);
      return reply.code(status).headers(headers).send();
    }
    if (config.open === true || open.has(`${request.method} ${url}`) || isUnknownPage(request)) return undefined;
    const caller = await options.access.authenticate(accessRequest(request));
    if ('problem' in caller) return sendRefusal(reply, caller);
    setCaller(request, caller);
    return undefined;
  });
}

function sendRefusal(reply: FastifyReply, refusal: AccessRefusal): FastifyReply {
  sendProblem(reply.header('www-authenticate', refusal.challenge ?? 'Bearer realm="toolmgr"'), refusal);
  return reply;
}

/** A path that browsers ask for by themselves, such as `/favicon.ico`: 404 without a token. */
function isUnknownPage({ is404, url }: FastifyRequest): boolean {
  return is404 && !/^\/(?:api|mcp|registry)(?:[/?]|$)/.test(url);
}

/** Browsers send it without the token. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

function mountRaw(app: FastifyInstance, { path, open = false, handle }: RawRoute): void {
  app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('*', (_request, _payload, done) => done(null)); // the body is left to the route
    inner.all(path, { config: { open, checksOrigin: true } }, (request, reply) => {
      reply.hijack();
      for (const [name, value] of Object.entries(SAFE_HEADERS)) reply.raw.setHeader(name, value);
      handle(request.raw, reply.raw);
    });
  });
}

function sendFault(fault: FastifyError, reply: FastifyReply, { log, signal }: OperationHost): FastifyReply {
  const known = problemFromFault(fault) ?? mistakeProblem(fault);
  if (known !== undefined) return sendProblem(reply, known);
  if (signal.aborted) return sendProblem(reply, problem('stopping', 'the manager is stopping'));
  const missing = missingIn(fault);
  if (missing !== undefined) return sendProblem(reply, problem('not_implemented', missing));
  log.error('an operation failed', { cause: explainCause(fault), stack: fault.stack ?? '' });
  return sendProblem(
    reply,
    problem('internal_error', storageFault(fault) ?? 'the manager failed; its log has the reason'),
  );
}

/** What to install for an operation that failed because of a missing optional package. */
function missingIn(fault: unknown): string | undefined {
  for (let at = fault; at instanceof Error; at = at.cause) {
    const missing = missingPackage(at);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

const NOT_HTTP = problem('bad_request', 'the request is not valid HTTP');

const CLIENT_ERRORS: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: problem('request_timeout', 'the request did not arrive completely in time'),
  HPE_HEADER_OVERFLOW: problem('headers_too_large', `the header is larger than ${HTTP_LIMITS.headerBytes} bytes`),
};

/** A whole response, for connections whose request could not be parsed. */
function rawProblem(refused: Problem): string {
  const body = problemBody(refused);
  const text = JSON.stringify(body);
  const head = [`HTTP/1.1 ${body.status} ${body.title}`, 'content-type: application/problem+json', 'connection: close'];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
