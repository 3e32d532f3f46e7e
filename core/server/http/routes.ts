import type { Inbound, Responder } from '../../contract/inbound.ts';
import type { MountedRoutes, Route, RouteReply } from '../../contract/route.ts';
import { FAULTS, type FaultCode } from '../../errors.ts';
import { codingFault } from '../../mcp/headers.ts';
import type { BodyReader } from './body.ts';
import type { RecordedInbound } from './request-recorder.ts';

/** The route of a path; an exact one wins. */
export function routeAt({ exact, below }: MountedRoutes, path: string): Route | undefined {
  const route = exact.get(path);
  if (route !== undefined || below.size === 0) return route;
  const at = path.lastIndexOf('/');
  return at < path.length - 1 ? below.get(path.slice(0, at)) : undefined;
}

/** No routes. */
export const NO_ROUTES: MountedRoutes = { exact: new Map(), below: new Map() };

/** Answers a request of a mounted route; the body is read only for POST and DELETE. */
export async function serveRoute(
  { answers }: Route,
  inbound: Inbound,
  readBody: BodyReader,
  responder: Responder,
): Promise<void> {
  const { method } = inbound;
  const answer = answers[(method === 'HEAD' ? 'GET' : method) as keyof typeof answers];
  if (answer === undefined || !Object.hasOwn(answers, method === 'HEAD' ? 'GET' : method)) {
    const methods = Object.keys(answers);
    const allow = (methods.includes('GET') ? [...methods, 'HEAD'] : methods).join(', ');
    return sendProblem(responder, 'METHOD_UNKNOWN', `method ${method} is not allowed`, { allow });
  }
  const unread = codingFault(inbound.headers);
  if (unread !== undefined) return sendProblem(responder, 'BODY_UNSUPPORTED', unread, UNCODED);
  const body = method === 'POST' || method === 'DELETE' ? await readBody() : EMPTY;
  if (typeof body !== 'string') return await answer(inbound, body, responder);
  if (body === 'tooLarge') sendProblem(responder, 'BODY_TOO_LARGE', 'the body is too large', CLOSE);
  if (body === 'consumed') sendProblem(responder, 'BODY_CONSUMED', CONSUMED);
  if (body === 'memorySpent') sendProblem(responder, 'MEMORY_SPENT', MEMORY_SPENT, LATER);
  if (body === 'tooSlow') sendProblem(responder, 'BODY_TOO_SLOW', 'the body took too long', CLOSE);
}

/** Sends an RFC 9457 problem document: the response to requests that are refused before MCP. */
export function sendProblem(
  responder: Responder,
  code: FaultCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status, means } = FAULTS[code];
  const problem = { type: 'about:blank', title: means, status, detail, code };
  responder.send(status, { 'content-type': 'application/problem+json', ...headers }, JSON.stringify(problem));
}

/** A GET of code in this process for the whole response of a route. */
export function readExchange(path: string): {
  readonly inbound: RecordedInbound;
  readonly responder: Responder;
  readonly reply: Promise<RouteReply>;
} {
  const { promise: reply, resolve } = Promise.withResolvers<RouteReply>();
  const responder: Responder = {
    send(status, headers, body = '') {
      resolve({ status, headers, body: typeof body === 'string' ? body : Buffer.concat([body].flat()).toString() });
    },
    open() {
      throw new Error(`${path} answers with a stream, which cannot be read whole`);
    },
    onDisconnect() {},
  };
  const { signal } = new AbortController();
  return { inbound: { method: 'GET', path, headers: {}, remoteAddress: undefined, signal }, responder, reply };
}

/** A request without a body. */
export const noBody: BodyReader = async () => EMPTY;

/** For the developer of the host; clients cannot fix this. */
export const CONSUMED =
  'the host read the body before the gateway; pass it as handle(request, response, { body: request.body }), or as fetch(request, { body })';

/** For clients. */
export const MEMORY_SPENT =
  'the body has no space: requests and results in flight use the memory of the gateway; send it again later (MEMORY_SPENT)';

const EMPTY = Buffer.alloc(0);
const UNCODED = { 'accept-encoding': 'identity' };
const CLOSE = { connection: 'close' };
const LATER = { ...CLOSE, 'retry-after': '1' };
