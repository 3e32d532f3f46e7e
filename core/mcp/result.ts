import type { CallResult } from '../contract/call.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import { decodeObject, encode } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';

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
