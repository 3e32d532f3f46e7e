import {
  type Call,
  callWith,
  decode,
  encode,
  endToEndMeta,
  isObject,
  type JsonObject,
  type RawJson,
  RawObject,
} from '@toolmgr/core';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { z } from 'zod';
import { NAME_MEMBERS } from './payload.ts';

const MAX_OPERATIONS = 1_000;
const MAX_COPIED_BYTES = 1024 * 1024;
const ROOT = '/mcp_request/';

const pointer = z.string().startsWith(ROOT);

/** RFC 6902 §4. */
export const patchSchema = z
  .array(
    z.discriminatedUnion('op', [
      z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value: z.unknown() }),
      z.object({ op: z.literal('remove'), path: pointer }),
      z.object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer }),
    ]),
  )
  .max(MAX_OPERATIONS);

/** A patch that cannot be applied, or that makes something other than a call of the same method. */
export class BadPatch extends Error {}

/**
 * Applies the patch of a webhook to a call. Only the members that an operation names are written again; all others keep
 * their bytes.
 * @throws BadPatch
 */
export function patchedCall(call: Call, request: RawJson, operations: readonly Operation[]): Call {
  const document = { mcp_request: decode(request) };
  try {
    applyAll(document, operations);
  } catch (cause) {
    if (cause instanceof BadPatch) throw cause;
    throw new BadPatch('it cannot be applied', { cause }); // an operation on something that is no object or array
  }
  const changed = document.mcp_request;
  const before = decode(request);
  if (!isObject(changed) || !isObject(before) || !isObject(changed.params)) throw new BadPatch('it leaves no request');
  for (const member of new Set([...Object.keys(changed), ...Object.keys(before)])) {
    if (member !== 'params' && changed[member] !== before[member]) {
      throw new BadPatch(`it changes ${member} of the request; only params can change`);
    }
  }
  return callWith(call, changesFrom(call, changed.params, touchedBy(operations)));
}

/** Applies the operations one by one, so that copies are counted before they are made. */
function applyAll(document: object, operations: readonly Operation[]): void {
  let copied = 0;
  for (const operation of operations) {
    const places = 'from' in operation ? [operation.from, operation.path] : [operation.path];
    for (const place of places) checkPlace(document, place, operation.op === 'add' || place !== places[0]);
    if (operation.op === 'copy') {
      copied += JSON.stringify(Pointer.fromJSON(operation.from).get(document))?.length ?? 0;
      if (copied > MAX_COPIED_BYTES) throw new BadPatch(`it copies more than ${MAX_COPIED_BYTES} bytes`);
    }
    const [problem] = applyPatch(document, [operation]);
    // not its message, which may quote a value of the call
    if (problem != null) throw new BadPatch(`the operation ${operation.op} at ${operation.path} fails`);
  }
}

/** Every step leads to a member of the JSON itself: never to a property that JavaScript objects inherit. */
function checkPlace(document: object, place: string, mayBeNew: boolean): void {
  const { tokens } = Pointer.fromJSON(place);
  let at: unknown = document;
  tokens.slice(1).forEach((token, index) => {
    const isLast = index === tokens.length - 2;
    if (UNSAFE.has(token) || !isStep(at, token, isLast && mayBeNew)) throw new BadPatch(`${place} does not exist`);
    at = (at as Record<string, unknown>)[token];
  });
}

function isStep(at: unknown, token: string, mayBeNew: boolean): boolean {
  if (typeof at !== 'object' || at === null) return false;
  if (!Array.isArray(at)) return mayBeNew || Object.hasOwn(at, token);
  if (mayBeNew && token === '-') return true;
  return /^(0|[1-9]\d{0,8})$/.test(token) && Number(token) < at.length + (mayBeNew ? 1 : 0);
}

/** Names that the library skips without an error. */
const UNSAFE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Members of `params` that operations change, and of `arguments` one level deeper; an empty set means all of them. */
function touchedBy(operations: readonly Operation[]): ReadonlyMap<string, ReadonlySet<string>> {
  const touched = new Map<string, Set<string>>();
  const wholly = new Set<string>();
  for (const operation of operations) {
    if (operation.op === 'test') continue;
    const places = operation.op === 'move' ? [operation.from, operation.path] : [operation.path];
    for (const place of places) {
      const [, , , member = ALL, inner] = Pointer.fromJSON(place).tokens;
      const inners = touched.get(member) ?? new Set();
      if (inner === undefined) wholly.add(member);
      else inners.add(inner);
      touched.set(member, inners);
    }
  }
  for (const member of wholly) touched.set(member, NOTHING as Set<string>);
  return touched;
}

/** An operation on `params` itself. */
const ALL = '';
const NOTHING: ReadonlySet<string> = new Set();

type CallChanges = Parameters<typeof callWith>[1];

function changesFrom(call: Call, params: JsonObject, touched: ReadonlyMap<string, ReadonlySet<string>>): CallChanges {
  if (touched.has(ALL)) throw new BadPatch('it replaces params; only its members can change');
  const nameMember = NAME_MEMBERS[call.method];
  const changes: { -readonly [K in keyof CallChanges]: CallChanges[K] } = {};
  for (const [member, inner] of touched) {
    const value = params[member];
    if (member === nameMember) {
      if (typeof value !== 'string') throw new BadPatch(`${member} must be a string`);
      changes.name = value;
    } else if (value !== undefined && !isObject(value)) {
      throw new BadPatch(`${member} must be an object`);
    } else if (member === '_meta') {
      changes.meta = value === undefined ? undefined : endToEndMeta(encode(value));
    } else if (CHANGEABLE.has(`${call.method} ${member}`)) {
      const members = changes.members ?? call.members;
      changes.members =
        value === undefined ? members.without(member) : members.with(member, rewritten(call, member, value, inner));
    } else {
      throw new BadPatch(`${member} of ${call.method} cannot be changed`);
    }
  }
  return changes;
}

const CHANGEABLE: ReadonlySet<string> = new Set([
  'tools/call arguments',
  'prompts/get arguments',
  'completion/complete argument',
  'completion/complete context',
]);

/** A member of `params` after the patch: the parts that no operation names keep their bytes. */
function rewritten(call: Call, member: string, value: JsonObject, inner: ReadonlySet<string>): RawJson {
  const given = call.members.get(member);
  if (inner.size === 0 || given === undefined) return encode(value);
  const raw = RawObject.parse(given);
  const members = Object.entries(value).flatMap(([key, part]): [string, RawJson][] =>
    part === undefined ? [] : [[key, (inner.has(key) ? undefined : raw.get(key)) ?? encode(part)]],
  );
  return RawObject.of(members).toBytes();
}
