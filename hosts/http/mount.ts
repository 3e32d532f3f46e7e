import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A route of the host itself: GET and HEAD, no credentials, a JSON answer. */
export interface HostRoute {
  readonly path: string;
  answer(query: URLSearchParams): HostAnswer | Promise<HostAnswer>;
}

/** What a host route says. */
export interface HostAnswer {
  readonly status: number;
  readonly body: object;
}

/** Mounts the routes; other methods get 405, foreign `Host` names 403 (a web page must not read them by DNS tricks). */
export function mountHostRoutes(
  app: FastifyInstance,
  routes: readonly HostRoute[],
  allowedHosts: readonly string[] | undefined,
): void {
  const allowed = allowedHosts === undefined ? undefined : new Set(allowedHosts.map((name) => name.toLowerCase()));
  for (const route of routes) {
    app.all(
      route.path,
      { onRequest: (request, reply, _done) => void respond(route, allowed, request, reply) },
      () => undefined,
    );
  }
}

async function respond(
  route: HostRoute,
  allowed: ReadonlySet<string> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
  if (allowed !== undefined && !allowed.has(hostName(request.headers.host))) {
    return problem(reply, 403, 'Forbidden', 'this Host name is not served');
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    reply.header('allow', 'GET, HEAD');
    return problem(reply, 405, 'Method Not Allowed', `${route.path} answers GET and HEAD`);
  }
  try {
    const { status, body } = await route.answer(new URL(request.url, 'http://host').searchParams);
    reply.code(status).type('application/json').send(JSON.stringify(body));
  } catch {
    problem(reply, 500, 'Internal Server Error', 'the answer could not be made');
  }
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
