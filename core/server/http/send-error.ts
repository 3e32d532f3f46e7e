import type { Responder } from '../../contract/inbound.ts';
import type { RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { errorBytes } from '../../mcp/envelope.ts';
import type { Replies } from '../replies.ts';

/** Answers a request with a JSON-RPC error; the record of the request gets the error as a value. */
export function sendError(
  responder: Pick<Responder, 'failed'> & Pick<Replies, 'send'>,
  status: number,
  headers: Readonly<Record<string, string>>,
  id: RawJson,
  error: WireError,
): void {
  responder.failed?.(error);
  responder.send(status, headers, errorBytes(id, error));
}
