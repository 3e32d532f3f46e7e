import type { Caller } from '../contract/caller.ts';
import type { Responder } from '../contract/inbound.ts';
import type { RawJson } from '../contract/json.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { errorFromRefusal, headersOfRefusal } from '../mcp/envelope.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { contentFault } from '../mcp/headers.ts';
import { type InvalidMessage, type Message, NULL_ID, readMessage } from '../mcp/message.ts';
import { shareOf } from '../mcp/shares.ts';
import type { GatewayService } from '../pipeline/gateway-service.ts';
import { isPromise } from '../timing/is-promise.ts';
import type { BodyReader } from './http/body.ts';
import { HttpReplies } from './http/http-replies.ts';
import type { RecordedInbound } from './http/request-recorder.ts';
import { CONSUMED } from './http/routes.ts';
import type { Exchange, ServedPath } from './protocol-server.ts';
import { refuseBody, sendError } from './refuse.ts';
import type { RejectedTokens } from './rejected-tokens.ts';

/** What requests for MCP are answered with. */
export interface McpPathParts {
  readonly service: Pick<GatewayService, 'identify'>;
  readonly limits: Limits;
  readonly log: Log;
  readonly rejected: RejectedTokens;
  /** Only POST is answered. */
  readonly postOnly: boolean;
}

/** Answers a request for one of the paths of MCP. */
export type ServeMcp = (
  served: ServedPath,
  inbound: RecordedInbound,
  readBody: BodyReader,
  responder: Responder,
) => Promise<void>;

/**
 * Makes the function that checks the method, authenticates, reads the message, and passes it to the server of its era.
 * Refusals are JSON-RPC errors.
 */
export function createMcpPath({ service, limits, log, rejected, postOnly }: McpPathParts): ServeMcp {
  return serveMcp;

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
      return sendError(responder, 405, wireError(CODE.invalidRequest, `method ${method} is not allowed`), allow);
    }
    const found = service.identify(inbound);
    const replies = new HttpReplies(responder, inbound.headers.accept);
    const caller = admitted(isPromise(found) ? await found : found, { inbound, replies, rejected });
    if (caller === undefined) return;
    inbound.record?.isOf(caller);
    inbound.held?.belongsTo(shareOf(caller, inbound.remoteAddress));
    const exchange: Exchange = { inbound, caller, replies };
    if (bodiless !== undefined) return bodiless(exchange, responder);
    const unread = contentFault(inbound.headers);
    if (unread !== undefined) return sendError(responder, 415, wireError(CODE.invalidRequest, unread), UNCODED);
    const body = await readBody();
    if (body === 'consumed') log.error('a request could not be read', { path: inbound.path, cause: CONSUMED });
    if (typeof body === 'string') return refuseBody(responder, body);
    await deliver(served, exchange, readMessage(body, limits)); // awaited, because returning the promise costs two more microtasks
  }
}

/** Gives a message to the server of its era. */
export function deliver(
  { serverFor }: Pick<ServedPath, 'serverFor'>,
  exchange: Exchange,
  message: Message | InvalidMessage,
): void | Promise<void> {
  const { inbound, replies } = exchange;
  if ('misread' in message) return sendError(replies, 400, message.misread, {}, message.id);
  inbound.record?.says(message);
  const server = serverFor(inbound, message);
  if ('code' in server) return sendError(replies, 400, server, {}, message.kind === 'request' ? message.id : NULL_ID);
  inbound.record?.speaks(server.era);
  return server.post(exchange, message);
}

/** Who is refused, and where. */
export interface Asking extends Pick<Exchange, 'inbound' | 'replies'> {
  readonly rejected: RejectedTokens;
  /** Raw id of the message, if it is known. */
  readonly id?: RawJson;
}

/** The caller; one that is not authenticated is refused. */
export function admitted(
  found: Caller | Refusal | undefined,
  { inbound, replies, rejected, id }: Asking,
): Caller | undefined {
  if (found !== undefined && !('refused' in found)) return found;
  inbound.record?.refused(found?.reason ?? UNAUTHENTICATED.message);
  if (found === undefined) sendError(replies, 401, UNAUTHENTICATED, { 'www-authenticate': 'Bearer' }, id);
  else {
    rejected.note(inbound, found);
    sendError(replies, found.status, errorFromRefusal(found), headersOfRefusal(found), id);
  }
  return undefined;
}

const UNAUTHENTICATED = wireError(401, 'authentication is required');

const UNCODED = { 'accept-encoding': 'identity' };
const POST_ONLY = { allow: 'POST, OPTIONS' };
