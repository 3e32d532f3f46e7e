import type { Responder } from '../contract/inbound.ts';
import type { WireError } from '../contract/wire-error.ts';
import { errorBytes, retryData, retryHeaders } from '../mcp/envelope.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { NULL_ID } from '../mcp/message.ts';
import type { BodyFault } from './http/body.ts';
import { CONSUMED, MEMORY_SPENT } from './http/routes.ts';
import type { Replies } from './replies.ts';

/**
 * Answers a request with a JSON-RPC error; the record of the request gets the error as a value. `id` is the raw id of the request,
 * `null` when it is unknown.
 */
export function sendError(
  replies: Pick<Responder, 'failed'> & Pick<Replies, 'send'>,
  status: number,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
  id = NULL_ID,
): void {
  replies.failed?.(error);
  replies.send(status, { 'content-type': 'application/json', ...headers }, errorBytes(id, error));
}

/** Refuses a request whose body was not read. Sends nothing to a client that has disconnected. */
export function refuseBody(responder: Responder, fault: BodyFault): void {
  if (fault === 'gone') return;
  const { status, text } = BODY_FAULTS[fault];
  // The rest of the body is not read: the connection ends after the response.
  const headers = fault === 'memorySpent' ? LATER : CLOSE;
  const code = fault === 'memorySpent' ? CODE.internalError : CODE.invalidRequest;
  sendError(responder, status, wireError(code, text, fault === 'memorySpent' ? retryData() : undefined), headers);
}

const CLOSE = { connection: 'close' };
const LATER = { ...CLOSE, ...retryHeaders() };

const BODY_FAULTS = {
  consumed: { status: 500, text: CONSUMED },
  tooLarge: { status: 413, text: 'the request body is too large' },
  tooSlow: { status: 408, text: 'the request body took too long' },
  memorySpent: { status: 503, text: MEMORY_SPENT },
} as const satisfies Record<Exclude<BodyFault, 'gone'>, { readonly status: number; readonly text: string }>;
