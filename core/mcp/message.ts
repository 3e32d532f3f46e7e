import { isUtf8 } from 'node:buffer';
import type { CallMethod } from '../contract/call.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import {
  type AmbiguousName,
  type DeclaredNames,
  declaredNames,
  hasRepeatedMembers,
  undeclaredAmbiguousName,
} from '../json/ambiguous-names.ts';
import { checkStructure } from '../json/check-structure.ts';
import { RawJsonError, TooManyMembers } from '../json/json-errors.ts';
import { hasLoneSurrogate } from '../json/json-string.ts';
import { decode, isObject } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';
import { DEFAULT_LIMITS, type Limits } from '../limits.ts';
import { CODE, echoed, otherErrorMembers, wireError } from './errors.ts';

/** A JSON-RPC id as a client may choose it. */
export type MessageId = string | number;

/** One JSON-RPC message of a client. The raw members are forwarded; the decoded ones are only read. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage;

export interface RequestMessage {
  readonly kind: 'request';
  /** The raw id, which the response repeats. */
  readonly id: RawJson;
  readonly key: MessageId;
  readonly method: string;
  readonly params: RawObject;
  /** `params` decoded; `{}` without params. */
  readonly given: JsonObject;
}

export interface NotificationMessage {
  readonly kind: 'notification';
  readonly method: string;
  readonly given: JsonObject;
}

export interface ResponseMessage {
  readonly kind: 'response';
  readonly key: MessageId;
  readonly answer: { readonly result: RawJson } | { readonly error: WireError };
}

/** Why a body is not a message, with its id if it could be read. */
export interface InvalidMessage {
  readonly misread: WireError;
  readonly id: RawJson;
  /** It is a notification or a response, which JSON-RPC does not answer; HTTP refuses its request. */
  readonly isUnanswered?: boolean;
}

export const NULL_ID: RawJson = Buffer.from('null');

/** Limits of the memory that one message may need. */
export type MessageBounds = Pick<Limits, 'objectMembers' | 'messageContainers' | 'messageValues'>;

/**
 * Parses one JSON-RPC message.
 *
 * Fails as a value. -32700: not UTF-8, not JSON, or nested too deeply. -32600: JSON that is not a single message (a
 * batch, a wrong `jsonrpc`, an id that is neither string nor number), an object with too many members, too many objects
 * and arrays, too many values. -32602: params with a duplicate member at any depth, or with a member that differs from a
 * known one only by case, because a policy must read the same values as the backend; text with half a surrogate pair.
 * Source: JSON-RPC 2.0 §4; MCP refuses batches since 2025-06-18.
 */
export function readMessage(
  body: RawJson,
  { objectMembers, messageContainers, messageValues }: MessageBounds = DEFAULT_LIMITS,
): Message | InvalidMessage {
  let members: RawObject | undefined;
  let value: JsonValue;
  try {
    if (!isUtf8(body)) return invalidMessage(CODE.parseError, 'the body is not UTF-8');
    // The raw scan comes first: it limits the depth and size of the decoder's input.
    const first = firstByte(body);
    if (first === OPEN_BRACKET) checkStructure(body, objectMembers, messageContainers, messageValues);
    if (first === OPEN_BRACE)
      members = RawObject.parse(body, READ_THROUGH, objectMembers, messageContainers, messageValues);
    value = decode(body);
    if (members === undefined) return notSingleMessage(value);
  } catch (cause) {
    if (cause instanceof TooManyMembers) return invalidMessage(CODE.invalidRequest, cause.message);
    if (!(cause instanceof RawJsonError) && !(cause instanceof SyntaxError)) throw cause;
    return invalidMessage(CODE.parseError, 'the body is not JSON');
  }
  return isObject(value) ? messageFrom(body, members, value) : notSingleMessage(value);
}

function messageFrom(body: RawJson, members: RawObject, value: JsonObject): Message | InvalidMessage {
  const { id, method, params } = value;
  const isKey = typeof id === 'string' || typeof id === 'number';
  const echo = (isKey ? members.get('id') : undefined) ?? NULL_ID;
  if (value.jsonrpc !== '2.0') return invalidMessage(CODE.invalidRequest, 'jsonrpc must be "2.0"', echo);
  if (id !== undefined && !isKey) return invalidMessage(CODE.invalidRequest, 'id must be a string or a number', echo);
  if (hasLoneSurrogate(body)) {
    const isUnanswered = method === undefined ? isResponse(value) : !isKey;
    return { ...invalidMessage(CODE.invalidParams, LONE_SURROGATE, echo), isUnanswered };
  }
  if (method === undefined) return responseFrom(members, value, isKey ? id : undefined, echo);
  if (typeof method !== 'string') return invalidMessage(CODE.invalidRequest, 'method must be a string', echo);
  if (params !== undefined && !isObject(params)) {
    return invalidMessage(CODE.invalidRequest, 'params must be an object', echo);
  }
  const given = params ?? NO_PARAMS;
  if (!isKey) return { kind: 'notification', method, given };
  const raw = members.object('params') ?? RawObject.empty();
  if (hasRepeatedMembers(raw, given)) return invalidMessage(CODE.invalidParams, 'params have a duplicate member', echo);
  const alike = ambiguousParam(method, given);
  if (alike !== undefined) {
    const names = `${JSON.stringify(echoed(alike.name))} differs from "${alike.other}"`;
    return invalidMessage(CODE.invalidParams, `params: ${names} only by case`, echo);
  }
  return { kind: 'request', id: echo, key: id, method, params: raw, given };
}

const LONE_SURROGATE = 'a text has half a surrogate pair (an escape such as \\ud800 alone), which is not Unicode';

function isResponse(value: JsonObject): boolean {
  return 'result' in value || 'error' in value;
}

function responseFrom(
  members: RawObject,
  value: JsonObject,
  key: MessageId | undefined,
  echo: RawJson,
): Message | InvalidMessage {
  if (key === undefined) return invalidMessage(CODE.invalidRequest, 'this is not a JSON-RPC message', echo);
  const { error } = value;
  if (isObject(error)) {
    const raw = members.object('error');
    const code = typeof error.code === 'number' ? error.code : CODE.internalError;
    const message = typeof error.message === 'string' ? error.message : 'the client failed';
    const data = raw?.get('data');
    const others = raw === undefined ? undefined : otherErrorMembers(raw);
    const given = { ...(data === undefined ? {} : { data }), ...(others === undefined ? {} : { members: others }) };
    return { kind: 'response', key, answer: { error: { code, message, ...given } } };
  }
  const result = members.get('result');
  if (result === undefined || result[0] !== OPEN_BRACE) {
    const misread = invalidMessage(CODE.invalidRequest, 'a response needs a result object or an error', echo);
    return { ...misread, isUnanswered: isResponse(value) };
  }
  return { kind: 'response', key, answer: { result } };
}

function notSingleMessage(value: JsonValue): InvalidMessage {
  return invalidMessage(
    CODE.invalidRequest,
    Array.isArray(value) ? 'batches are not supported' : 'this is not a JSON-RPC message',
  );
}

function invalidMessage(code: number, message: string, id: RawJson = NULL_ID): InvalidMessage {
  return { misread: wireError(code, message), id };
}

function firstByte(body: RawJson): number | undefined {
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return byte;
  }
  return undefined;
}

/** Members that nearly every request reads as objects: one pass finds all. */
const READ_THROUGH: ReadonlySet<string> = new Set(['params', '_meta']);

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const NO_PARAMS: JsonObject = Object.freeze({});

/**
 * The members of params that are sent to a backend, for the methods that policies decide. All others are removed: a
 * member that the policy does not know must not reach a reader that interprets it.
 */
export const FORWARDED: Readonly<Record<CallMethod, ReadonlySet<string>>> = {
  'tools/call': new Set(['name', 'arguments']),
  'prompts/get': new Set(['name', 'arguments']),
  'resources/read': new Set(['uri']),
  'resources/subscribe': new Set(['uri']),
  'completion/complete': new Set(['ref', 'argument', 'context']),
};

/**
 * The first member of a request's params, or of the objects in them that the protocol defines, that differs from a
 * known one only by case.
 *
 * Shape: `params` decoded. Arguments are not checked, because the tool defines their names.
 */
export function ambiguousParam(method: string, params: JsonObject): AmbiguousName | undefined {
  const known = KNOWN.get(method) ?? COMMON;
  const found = undeclaredAmbiguousName(params, known);
  if (found !== undefined || method !== 'completion/complete') return found;
  for (const name of ['ref', 'argument', 'context']) {
    const [inner, names] = [params[name], known.below(name)];
    const below = isObject(inner) && names !== undefined ? undeclaredAmbiguousName(inner, names) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

const COMMON = declaredNames(['_meta']);
const ROUNDS = ['_meta', 'inputResponses', 'requestState'];
const LIST = declaredNames(['_meta', 'cursor']);
const NAMED = declaredNames(['name', 'arguments', 'task', ...ROUNDS]);
const BY_URI = declaredNames(['uri', ...ROUNDS]);

/** Source: MCP schema 2025-11-25 and 2026-07-28, the params of each request. */
const KNOWN: ReadonlyMap<string, DeclaredNames> = new Map([
  ['tools/call', NAMED],
  ['prompts/get', NAMED],
  ['resources/read', BY_URI],
  ['resources/subscribe', BY_URI],
  ['resources/unsubscribe', BY_URI],
  [
    'completion/complete',
    declaredNames(
      ['ref', 'argument', 'context', '_meta'],
      new Map([
        ['ref', declaredNames(['type', 'name', 'uri', 'title'])],
        ['argument', declaredNames(['name', 'value'])],
        ['context', declaredNames(['arguments'])],
      ]),
    ),
  ],
  ['tools/list', LIST],
  ['prompts/list', LIST],
  ['resources/list', LIST],
  ['resources/templates/list', LIST],
  ['logging/setLevel', declaredNames(['_meta', 'level'])],
  ['subscriptions/listen', declaredNames(['_meta', 'notifications'])],
]);
