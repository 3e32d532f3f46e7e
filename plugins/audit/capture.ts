import type { Call, CallResult, RequestRecord } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';

/** A copy of what went over the wire, or the word that it was too long. */
export interface Captured {
  /** JSON text as UTF-8; `undefined` when it was left out. */
  readonly bytes: Buffer | undefined;
  /** Something is missing. */
  readonly isCut: boolean;
}

/** Copies the wanted pieces of requests and answers; never keeps a buffer of theirs. */
export interface Capture {
  callRequest(call: Call): Captured | undefined;
  callResponse(result: CallResult | undefined): Captured | undefined;
  request(record: RequestRecord): Captured | undefined;
  response(record: RequestRecord): Captured | undefined;
}

/**
 * Makes the copying for one configuration: what is off answers `undefined` at once.
 *
 * A request longer than `maxBytes` is left out as a whole, an answer is cut. Bodies of routes beside the endpoint are
 * not taken: logins pass there.
 */
export function createCapture({
  includeRequestData,
  includeResponseData,
  maxDataSize: maxBytes,
}: Pick<AuditConfig, 'includeRequestData' | 'includeResponseData' | 'maxDataSize'>): Capture {
  return {
    callRequest: includeRequestData ? (call) => wholeMembers(call.members, maxBytes) : nothing,
    callResponse: includeResponseData
      ? (result) => (result === undefined ? undefined : beginning(result.bytes, maxBytes))
      : nothing,
    request: includeRequestData ? (record) => requestOf(record, maxBytes) : nothing,
    response: includeResponseData ? (record) => responseOf(record, maxBytes) : nothing,
  };
}

const nothing = (): undefined => undefined;
const LEFT_OUT: Captured = { bytes: undefined, isCut: true };

function requestOf({ face, message, inbound }: RequestRecord, maxBytes: number): Captured | undefined {
  if (face !== 'mcp' || message === undefined) return undefined;
  if (message.params !== undefined) return wholeMembers(message.params.without(...PER_HOP), maxBytes);
  if (message.given === undefined) return undefined; // an answer of the client to a question: may hold what it was asked for
  const declared = Number(inbound.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (declared > maxBytes + ENVELOPE_BYTES) return LEFT_OUT;
  const { _meta, ...given } = message.given;
  const bytes = Buffer.from(JSON.stringify(given));
  return bytes.length > maxBytes ? LEFT_OUT : { bytes, isCut: false };
}

function responseOf({ face, body }: RequestRecord, maxBytes: number): Captured | undefined {
  if (face !== 'mcp' || body === undefined || body.length === 0) return undefined;
  if (typeof body === 'string') return beginning(Buffer.from(body.slice(0, maxBytes + 1)), maxBytes);
  return Buffer.isBuffer(body) ? beginning(body, maxBytes) : beginningOfParts(body, maxBytes);
}

/** Looks at the sizes before anything is joined. */
function wholeMembers(members: Call['members'], maxBytes: number): Captured {
  let bytes = 0;
  for (const key of members.keys()) bytes += members.get(key)?.length ?? 0;
  if (bytes > maxBytes) return LEFT_OUT;
  const whole = members.toBytes();
  return whole.length > maxBytes ? LEFT_OUT : { bytes: Buffer.from(whole), isCut: false };
}

function beginning(bytes: Buffer, maxBytes: number): Captured {
  return { bytes: Buffer.from(bytes.subarray(0, maxBytes)), isCut: bytes.length > maxBytes };
}

function beginningOfParts(parts: readonly Buffer[], maxBytes: number): Captured {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  const copy = Buffer.allocUnsafe(Math.min(bytes, maxBytes));
  let at = 0;
  for (const part of parts) {
    if (at === copy.length) break;
    at += part.copy(copy, at);
  }
  return { bytes: copy, isCut: bytes > maxBytes };
}

const PER_HOP = ['_meta', 'inputResponses', 'requestState']; // not the request's own words, and what a user was asked for
const ENVELOPE_BYTES = 4096; // what a notification has around its params, `_meta` with the client's hello included
