import type { CallResult } from '../../contract/call.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Refusal } from '../../contract/refusal.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { decodeObject } from '../../json/raw-json.ts';
import { retryData } from '../../mcp/envelope.ts';
import { CODE } from '../../mcp/errors.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { endToEndMeta } from '../../mcp/meta.ts';
import { membersOf, toolFailure } from '../../mcp/result.ts';

/**
 * A result for legacy clients: without the members of modern clients and without the `_meta` of the backend. A result
 * without any of them is sent unchanged.
 */
export function legacyResult(result: CallResult): RawJson {
  const members = membersOf(result);
  const plain = members.without('resultType', 'ttlMs', 'cacheScope');
  const meta = plain.get('_meta');
  if (meta === undefined) return plain.toBytes();
  const kept = endToEndMeta(meta);
  if (kept === meta) return plain.toBytes();
  return (kept === undefined ? plain.without('_meta') : plain.with('_meta', kept)).toBytes();
}

/** A rate-limited tool call is answered by a result that the model can read; its code is outside the reserved range. */
export function limitedResult(refusal: Refusal): RawJson {
  const text = 'Rate limit exceeded';
  const structuredContent: JsonObject = { code: 429, message: text, data: retryData(refusal) };
  return toolFailure(text, { structuredContent }).bytes;
}

/**
 * An error for legacy clients: -32602 about the resource that was read becomes "not found", -32002. Any other -32602 is
 * kept, because it may be about the arguments.
 */
export function legacyError(error: WireError, { method, given }: RequestMessage): WireError {
  if (error.code !== CODE.invalidParams || method !== 'resources/read' || error.data === undefined) return error;
  const isThisResource = error.data[0] === 0x7b && decodeObject(error.data)?.uri === given.uri;
  return isThisResource ? { ...error, code: CODE.legacyResourceNotFound } : error;
}
