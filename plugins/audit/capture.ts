import type { Call, CallResult, RequestRecord } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';

/** A copy of a request or response, or the mark that it was too large. */
export interface Captured {
  /** JSON as UTF-8; `undefined` when it was omitted. */
  readonly bytes: Buffer | undefined;
  /** Whether the copy is cut or omitted. */
  readonly isCut: boolean;
}

/** Copies parts of requests and responses; never keeps their buffers. */
export interface Capture {
  callRequest(call: Call): Captured | undefined;
  callResponse(result: CallResult | undefined): Captured | undefined;
  request(record: RequestRecord): Captured | undefined;
  response(record: RequestRecord): Captured | undefined;
}

/**
 * Creates the capture for a configuration; disabled parts return `undefined`.
 *
 * A request larger than `maxBytes` is omitted, a response is cut. Bodies of other routes are not captured, because they
 * include logins.
 */
export function createCapture({
  includeRequestData,
  includeResponseData,
  maxDataSize: maxBytes,
}: Pick<AuditConfig, 'includeRequestData' | 'includeResponseData' | 'maxDataSize'>): Capture {
  return {
    callRequest: includeRequestData ? (call) => wholeMembers(call.members, maxBytes) : nothing,
    callResponse: includeResponseData
      ? (result) => (result === undefined ? undefined : firstBytes(result.bytes, maxBytes))
      : nothing,
    request: includeRequestData ? (record) => requestOf(record, maxBytes) : nothing,
    response: includeResponseData ? (record) => responseOf(record, maxBytes) : nothing,
  };
}

const nothing = (): undefined => undefined;
const OMITTED: Captured = { bytes: undefined, isCut: true };

function requestOf({ servedBy, message, inbound }: RequestRecord, maxBytes: number): Captured | undefined {
  if (servedBy !== 'mcp' || message === undefined) return undefined;
  if (message.params !== undefined) return wholeMembers(message.params.without(...PER_HOP), maxBytes);
  if (message.given === undefined) return undefined; // the client's answer to an elicitation may contain secrets
  const declared = Number(inbound.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (declared > maxBytes + ENVELOPE_BYTES) return OMITTED;
  const { _meta, ...given } = message.given;
  const bytes = Buffer.from(JSON.stringify(given));
  return bytes.length > maxBytes ? OMITTED : { bytes, isCut: false };
}

function responseOf({ servedBy, body }: RequestRecord, maxBytes: number): Captured | undefined {
  if (servedBy !== 'mcp' || body === undefined || body.length === 0) return undefined;
  if (typeof body === 'string') return firstBytes(Buffer.from(body.slice(0, maxBytes + 1)), maxBytes);
  return Buffer.isBuffer(body) ? firstBytes(body, maxBytes) : firstBytesOfParts(body, maxBytes);
}

/** Checks the sizes before the members are joined. */
function wholeMembers(members: Call['members'], maxBytes: number): Captured {
  let bytes = 0;
  for (const key of members.keys()) bytes += members.get(key)?.length ?? 0;
  if (bytes > maxBytes) return OMITTED;
  const whole = members.toBytes();
  return whole.length > maxBytes ? OMITTED : { bytes: Buffer.from(whole), isCut: false };
}

function firstBytes(bytes: Buffer, maxBytes: number): Captured {
  return { bytes: Buffer.from(bytes.subarray(0, maxBytes)), isCut: bytes.length > maxBytes };
}

function firstBytesOfParts(parts: readonly Buffer[], maxBytes: number): Captured {
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

const PER_HOP = ['_meta', 'inputResponses', 'requestState']; // protocol metadata, and answers of users
const ENVELOPE_BYTES = 4096; // for the members around the params, including `_meta` with client info
