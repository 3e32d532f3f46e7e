import type { Inbound, Responder } from '../../contract/inbound.ts';
import type { Route } from '../../contract/route.ts';
import type { BodyReader } from './body.ts';
import { sendProblem } from './problem.ts';

/** Answers a request of a mounted route; the body is read only for POST and DELETE. */
export async function serveRoute(
  route: Route,
  inbound: Inbound,
  readBody: BodyReader,
  responder: Responder,
): Promise<void> {
  const { method } = inbound;
  const answer = route[(method === 'HEAD' ? 'GET' : method) as keyof Route];
  if (answer === undefined || !Object.hasOwn(route, method === 'HEAD' ? 'GET' : method)) {
    const methods = Object.keys(route);
    const allow = (methods.includes('GET') ? [...methods, 'HEAD'] : methods).join(', ');
    return sendProblem(responder, 'METHOD_UNKNOWN', `method ${method} is not allowed`, { allow });
  }
  const body = method === 'POST' || method === 'DELETE' ? await readBody() : EMPTY;
  if (typeof body !== 'string') return await answer(inbound, body, responder);
  if (body === 'tooLarge') sendProblem(responder, 'BODY_TOO_LARGE', 'the body is too large', CLOSE);
  if (body === 'consumed') sendProblem(responder, 'BODY_CONSUMED', CONSUMED);
  if (body === 'tooSlow') sendProblem(responder, 'BODY_TOO_SLOW', 'the body took too long', CLOSE);
}

/** For the developer of the host; clients cannot fix this. */
export const CONSUMED =
  'the host read the body before the gateway; pass it as handle(request, response, { body: request.body })';

const EMPTY = Buffer.alloc(0);
const CLOSE = { connection: 'close' };
