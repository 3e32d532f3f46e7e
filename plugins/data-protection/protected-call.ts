import {
  type Call,
  CallRefused,
  type CallResult,
  callWith,
  type Dispatch,
  RawObject,
  resultFromBytes,
} from '@toolmgr/core';
import { withProtectedMessages } from './client-messages.ts';
import type { Guard } from './guard.ts';
import type { Direction, Scope } from './scopes.ts';

/** Protects the calls that pass a dispatch; the others cost one comparison per rule. */
export function protectedDispatch(
  guard: Guard,
  scopeOf: (call: Call, direction: Direction) => Scope | undefined,
  dispatch: Dispatch,
): Dispatch {
  return (call) => {
    const sent = scopeOf(call, 'arguments');
    const answered = scopeOf(call, 'results');
    return sent === undefined && answered === undefined
      ? dispatch(call)
      : protectedCall(guard, dispatch, call, sent, answered);
  };
}

/** @throws CallRefused when a rule blocks */
async function protectedCall(
  guard: Guard,
  dispatch: Dispatch,
  call: Call,
  sent: Scope | undefined,
  answered: Scope | undefined,
): Promise<CallResult> {
  const checked = sent === undefined ? call : withProtectedArguments(guard, call, sent);
  let result: CallResult;
  try {
    result = await dispatch(withProtectedMessages(guard, checked, sent, answered));
  } catch (thrown) {
    throw answered === undefined ? thrown : protectedError(guard, call, answered, thrown);
  }
  return answered === undefined ? result : protectedResult(guard, call, answered, result);
}

/** Arguments, `_meta` and answers of the person; names and URIs choose the target, so in a URI nothing is masked. */
function withProtectedArguments(guard: Guard, call: Call, scope: Scope): Call {
  const outcome = guard.search(call, scope, (search) => {
    let { members } = call;
    for (const key of members.keys()) {
      const before = members.get(key);
      if (before === undefined || key === 'name' || key === 'ref') continue;
      if (key === 'uri') search.fixedText(decoded(members.string('uri') ?? ''));
      else {
        const after = search.json(before);
        if (after !== before) members = members.with(key, after);
      }
    }
    const meta = call.meta && search.json(call.meta);
    const inputResponses = call.inputResponses && search.json(call.inputResponses);
    const isSame = members === call.members && meta === call.meta && inputResponses === call.inputResponses;
    return isSame ? call : callWith(call, { members, meta, inputResponses });
  });
  if ('refusal' in outcome) throw new CallRefused(outcome.refusal);
  return outcome.value;
}

/** What the escapes of a URI mean; those that mean nothing stay. */
function decoded(uri: string): string {
  return uri.replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

function protectedResult(guard: Guard, call: Call, scope: Scope, result: CallResult): CallResult {
  const outcome = guard.search(call, scope, (search) => {
    const before = RawObject.parse(result.bytes);
    let members = before;
    for (const key of before.keys()) {
      const value = before.get(key);
      if (value === undefined || OPAQUE.has(key)) continue;
      const after = search.json(value, HAS_BLOCKS.has(key) ? ENCODED : undefined);
      if (after !== value) members = members.with(key, after);
    }
    return members === before ? result : resultFromBytes(members.toBytes());
  });
  if ('refusal' in outcome) throw new CallRefused(outcome.refusal);
  return outcome.value;
}

/** The core forwards the error of a backend to the client. An error is never masked: a rule that masks withholds it too. */
function protectedError(guard: Guard, call: Call, scope: Scope, thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown.name !== 'BackendError') return thrown;
  const { data, members } = thrown as { readonly data?: unknown; readonly members?: unknown };
  const outcome = guard.search(call, scope, (search) => {
    search.fixedText(thrown.message);
    for (const part of [data, members]) if (Buffer.isBuffer(part)) search.fixedText(part.toString('utf8'));
  });
  return 'refusal' in outcome ? new CallRefused(outcome.refusal) : thrown;
}

/** State of the backend for the next round, and the type of the result. */
const OPAQUE: ReadonlySet<string> = new Set(['requestState', 'resultType']);
/** Members of results with blocks of content, whose images, sounds and files are base64. */
const HAS_BLOCKS: ReadonlySet<string> = new Set(['content', 'contents', 'messages']);
const ENCODED: ReadonlySet<string> = new Set(['data', 'blob']);
