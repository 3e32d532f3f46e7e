import {
  type Call,
  type Core,
  decode,
  hasRepeatedMembers,
  nearest,
  type RawJson,
  RawObject,
  type Reply,
  toolFailure,
} from '@toolmgr/core';
import { CALL_TOOL, FIND_TOOL } from './entries.ts';
import type { Answered } from './report-search.ts';

/** What was asked for, or what is wrong with it. */
type Asked = { readonly name: string; readonly given: RawJson } | { readonly problem: string };

/**
 * Makes the answer of `call_tool`: the tool is called as its caller would call it at the direct door (decided, limited and
 * recorded under its own name), and its result handed on by its bytes.
 */
export function createCaller(core: Pick<Core, 'perform' | 'toolsFor'>): (call: Call) => Promise<Answered> {
  return async (call) => {
    const asked = askedFor(call);
    if ('problem' in asked) return { result: toolFailure(asked.problem) };
    const { name, given } = asked;
    if (name === FIND_TOOL || name === CALL_TOOL) {
      return { result: toolFailure(`${name} cannot be called through ${CALL_TOOL}; call it directly`) };
    }
    const reply = await core.perform({ parent: call, name, arguments: given, isChosen: true });
    return 'result' in reply ? { result: reply.result } : whyNot(core, call, name, reply);
  };
}

/**
 * Reads the arguments by their bytes, so that large integers arrive as they are. Models make slips that have one meaning:
 * `tool_name` inside `parameters`, `parameters` as JSON text or left out. These are read as meant.
 */
function askedFor({ members }: Call): Asked {
  const raw = members.get('arguments');
  const outer = raw === undefined ? RawObject.empty() : RawObject.parse(raw);
  const parameters = objectIn(outer);
  if ('problem' in parameters) return parameters;
  const named = outer.string('tool_name');
  if (named !== undefined && named !== '') return { name: named, given: parameters.toBytes() };
  const inside = parameters.string('tool_name');
  if (inside === undefined || inside === '') {
    return { problem: `tool_name must be the name of a tool, as ${FIND_TOOL} returned it` };
  }
  const rest = parameters.without('tool_name');
  const nested = [...rest.keys()].join() === 'parameters' ? rest.get('parameters') : undefined;
  return { name: inside, given: nested?.[0] === OPEN_BRACE ? nested : rest.toBytes() };
}

const OPEN_BRACE = 0x7b;

function objectIn(outer: RawObject): RawObject | { readonly problem: string } {
  const given = outer.get('parameters');
  if (given === undefined || given.equals(NULL)) return RawObject.empty();
  if (given[0] === OPEN_BRACE) return RawObject.parse(given);
  const text = outer.string('parameters')?.trim();
  if (text === undefined) return { problem: NO_OBJECT };
  return text === '' ? RawObject.empty() : objectFromText(Buffer.from(text));
}

/** What the message around it was checked for holds for JSON inside a text too. */
function objectFromText(text: Buffer): RawObject | { readonly problem: string } {
  try {
    const members = RawObject.parse(text); // first: it bounds what the decoder gets
    const repeats = hasRepeatedMembers(members, decode(text));
    return repeats ? { problem: 'parameters name a member twice' } : members;
  } catch {
    return { problem: NO_OBJECT }; // some other text
  }
}

const NO_OBJECT = 'parameters must be an object that fits the inputSchema of the tool';
const NULL = Buffer.from('null');

/** In words that a model can act upon; of a tool that the caller may not use no more than its direct call would tell. */
async function whyNot(
  core: Pick<Core, 'toolsFor'>,
  call: Call,
  name: string,
  reply: Exclude<Reply, { readonly result: unknown }>,
): Promise<Answered> {
  if ('refusal' in reply) {
    const { reason, retryAfterMs } = reply.refusal;
    const later = retryAfterMs === undefined ? '' : `; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
    return { result: toolFailure(`${reason}${later}`) };
  }
  if (reply.error.code !== UNKNOWN) return { result: toolFailure(reply.error.message) };
  const names = (await core.toolsFor(call)).map(({ key }) => key);
  // the tool is there, and found fault with what it was given
  if (names.includes(name)) return { result: toolFailure(reply.error.message) };
  const near = nearest(name, names);
  const hint = near === undefined ? `search with ${FIND_TOOL} and use the exact name` : `did you mean "${near}"?`;
  return { result: toolFailure(`tool not found: ${name.slice(0, MAX_NAME)} (${hint})`), isNotFound: true };
}

const UNKNOWN = -32602;
const MAX_NAME = 200; // of a name that nobody has, in an answer
