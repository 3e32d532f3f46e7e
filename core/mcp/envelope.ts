import type { CallResult } from '../contract/call.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { WireError } from '../contract/wire-error.ts';
import { decodeObject, encode } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';
import { CODE, errorObject, wireError } from './errors.ts';

const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const RESULT = Buffer.from(',"result":');
const END = Buffer.from('}');

/** A JSON-RPC response around a raw result, as buffers that are written in order: the result is not copied. */
export function resultParts(id: RawJson, result: readonly RawJson[]): readonly Buffer[] {
  return [HEAD, id, RESULT, ...result, END];
}

/** A JSON-RPC error response. */
export function errorBytes(id: RawJson, error: WireError): Buffer {
  return Buffer.concat([HEAD, id, ERROR, errorObject(error), END]);
}

const ERROR = Buffer.from(',"error":');

/** A JSON-RPC notification with raw params, as buffers. */
export function notificationParts(method: string, params: RawJson): readonly Buffer[] {
  return [notificationHead(method), params, END];
}

/** Method names are few and fixed; names invented by a backend are not cached. */
function notificationHead(method: string): Buffer {
  const known = HEADS.get(method);
  if (known !== undefined) return known;
  const head = Buffer.from(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":`);
  if (HEADS.size < MAX_HEADS) HEADS.set(method, head);
  return head;
}

const HEADS = new Map<string, Buffer>();
const MAX_HEADS = 32;

/** A JSON-RPC request of the gateway to a client. */
export function requestParts(id: number, method: string, params: RawJson): readonly Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":`), params, END];
}

/** A refusal as a JSON-RPC error: its code is the HTTP status, outside the reserved range. */
export function errorFromRefusal(refusal: Refusal): WireError {
  const data = endsByItself(refusal) ? retryData(refusal) : undefined;
  return wireError(refusal.status, refusal.reason, data);
}

/** The headers of a refusal that is the HTTP status of its response. */
export function headersOfRefusal(refusal: Refusal): Readonly<Record<string, string>> {
  return { ...(endsByItself(refusal) ? retryHeaders(refusal) : {}), ...refusal.headers };
}

/** `Retry-After`, in seconds. Source: RFC 9110 §10.2.3. */
export function retryHeaders(refusal: Pick<Refusal, 'retryAfterMs'> = {}): Readonly<Record<string, string>> {
  return { 'retry-after': String(retryAfterSeconds(refusal)) };
}

function endsByItself({ status }: Refusal): boolean {
  return status === 429 || status === 503;
}

/** Whole seconds until a refused request may succeed, at least one. */
function retryAfterSeconds({ retryAfterMs }: Pick<Refusal, 'retryAfterMs'>): number {
  return Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000));
}

export function retryData(refusal: Pick<Refusal, 'retryAfterMs'> = {}): JsonObject {
  return { retryAfterSeconds: retryAfterSeconds(refusal) };
}

/** The only error that a client sees for a fault of the gateway. */
export const INTERNAL: WireError = wireError(CODE.internalError, 'internal error');

export const EMPTY_RESULT: RawJson = encode({});

const IS_ERROR = Buffer.from('true');

/**
 * A result given as bytes; its members are parsed once, its value is decoded on first read.
 * @throws RawJsonError when `bytes` is not a JSON object
 */
export class BytesResult implements CallResult {
  readonly bytes: RawJson;
  readonly members: RawObject;
  /** Era of the backend session; absent for results that the gateway makes. */
  readonly era: Era | undefined;
  readonly resultType: string;
  readonly isError: boolean;
  #value: JsonObject | undefined;

  /** `members`: the parsed members of `bytes`, if available. */
  constructor(bytes: RawJson, members: RawObject = RawObject.parse(bytes), era?: Era) {
    this.bytes = bytes;
    this.members = members;
    this.era = era;
    this.resultType = this.members.string('resultType') ?? 'complete';
    this.isError = this.members.get('isError')?.equals(IS_ERROR) === true;
  }

  get value(): JsonObject {
    this.#value ??= decodeObject(this.bytes) ?? {};
    return this.#value;
  }
}

/** A result made from a decoded value; for plugins that build or change one. */
export function resultFromValue(value: JsonObject): CallResult {
  return new BytesResult(encode(value));
}

/**
 * A result made of existing bytes, e.g. list items.
 * @throws RawJsonError when they are not a JSON object
 */
export function resultFromBytes(bytes: RawJson): CallResult {
  return new BytesResult(bytes);
}

/** A failure of a tool with one text block (MCP tools: `isError`). */
export function toolFailure(text: string, extra: JsonObject = {}): CallResult {
  return resultFromValue({ content: [{ type: 'text', text }], isError: true, ...extra });
}

/** The members of a result, parsed once for results of backends. */
export function membersOf(result: CallResult): RawObject {
  return result instanceof BytesResult ? result.members : RawObject.parse(result.bytes);
}
