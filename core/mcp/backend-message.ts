import type { ClientResponse } from '../contract/client-context.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import { joinParts, type Part } from '../json/byte-pieces.ts';
import { RawJsonError } from '../json/json-errors.ts';
import { decode } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';
import { errorObject, otherErrorMembers } from './errors.ts';
import { endToEndMeta } from './meta.ts';

/** The members of a value as parts, without its braces. */
export function partsFromValue(value: JsonObject): readonly Part[] {
  return [JSON.stringify(value).slice(1, -1)];
}

/** A message id as a Map key; `undefined` for anything but a string or a number. */
export function idFrom(raw: RawJson | undefined): number | string | undefined {
  if (raw === undefined) return undefined;
  const whole = wholeNumber(raw);
  if (whole !== undefined) return whole;
  const id = decode(raw);
  return typeof id === 'number' || typeof id === 'string' ? id : undefined;
}

/**
 * The id of a response that is too large to be read as a whole: of the text before its result, or after it.
 * `undefined` when neither has it.
 */
export function idAtEdge(message: RawJson): number | string | undefined {
  const head = message.toString('latin1', 0, EDGE);
  const tail = message.toString('latin1', Math.max(0, message.length - EDGE));
  const answer = RESULT_OR_ERROR.exec(head)?.index ?? 0;
  const id = tail.lastIndexOf('"id"');
  return idIn(`${head.slice(0, answer).replace(/,\s*$/, '')}}`) ?? (id === -1 ? undefined : idIn(`{${tail.slice(id)}`));
}

/** The id of a text that is one object. */
function idIn(text: string): number | string | undefined {
  try {
    return idFrom(RawObject.parse(Buffer.from(text, 'latin1')).get('id'));
  } catch (cause) {
    if (cause instanceof RawJsonError || cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

const EDGE = 1_024; // bytes; the ids are the gateway's own, which are short
const RESULT_OR_ERROR = /"(?:result|error)"\s*:/;

/** Whether a response has the id of the request; some servers return a number as text. */
export function sameId(came: number | string | undefined, sent: number | string): boolean {
  return came !== undefined && String(came) === String(sent);
}

/** The gateway's own ids are returned as a few digits, which need no parser. */
function wholeNumber(raw: RawJson): number | undefined {
  if (raw.length > MAX_DIGITS || raw[0] === ZERO) return undefined;
  let number = 0;
  for (let at = 0; at < raw.length; at++) {
    const digit = (raw[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

const ZERO = 0x30;
const MAX_DIGITS = 15; // exact as a JavaScript number

/** The error object of a message. Lenient: any object is accepted. */
export function errorOf(error: RawObject): ErrorMembers {
  const code = error.value('code');
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : -32603,
    message: error.string('message') ?? 'unnamed error',
    data: error.get('data'),
    members: otherErrorMembers(error),
  };
}

/** The members of an error object. */
export interface ErrorMembers {
  readonly code: number;
  readonly message: string;
  readonly data: RawJson | undefined;
  /** A raw object with all other members. */
  readonly members: RawJson | undefined;
}

/** The params without the `_meta` members that are meant for the gateway only. */
export function withoutHopMeta(params: RawObject): RawJson {
  const meta = params.get('_meta');
  if (meta === undefined) return params.toBytes();
  const kept = endToEndMeta(meta);
  if (kept === undefined) return params.without('_meta').toBytes();
  return params.with('_meta', kept).toBytes();
}

/** The response to a request of a backend. */
export function responseBody(id: RawJson, answer: ClientResponse): Buffer {
  if ('result' in answer) return joinParts(['{"jsonrpc":"2.0","id":', id, ',"result":', answer.result, '}']);
  return joinParts(['{"jsonrpc":"2.0","id":', id, ',"error":', errorObject(answer.error), '}']);
}

/** An `error` member. */
export function errorText(code: number, message: string): string {
  return `"error":{"code":${code},"message":${JSON.stringify(message)}}`;
}
