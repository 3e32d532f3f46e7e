import {
  type Call,
  CallRefused,
  type Core,
  decode,
  hasRepeatedMembers,
  nearest,
  type RawJson,
  RawObject,
  type Reply,
  toolFailure,
} from '@toolmgr/core';
import { asksForScopes } from '@toolmgr/plugins/kit/credentials';
import type { MeasuredResult } from './report-search.ts';
import { CALL_TOOL, FIND_TOOL } from './virtual-tools.ts';

/** The parsed arguments of `call_tool`, or why they are invalid. */
type CallArguments = { readonly name: string; readonly given: RawJson } | { readonly problem: string };

/**
 * Creates the handler of `call_tool`. The tool is called like a direct call of the caller (authorized, rate limited and
 * recorded under its own name), and its result is forwarded unchanged.
 */
export function createCaller(core: Pick<Core, 'perform' | 'toolsFor'>): (call: Call) => Promise<MeasuredResult> {
  return async (call) => {
    const target = parseArguments(call);
    if ('problem' in target) return { result: toolFailure(target.problem) };
    const { name, given } = target;
    if (name === FIND_TOOL || name === CALL_TOOL) {
      return { result: toolFailure(`${name} cannot be called through ${CALL_TOOL}; call it directly`) };
    }
    const reply = await core.perform({ parent: call, name, arguments: given, isChosen: true });
    if (!('result' in reply)) return explainFailure(core, call, name, reply);
    if (reply.requires !== undefined) throw reply.requires; // so that the client gets the link as for a direct call
    return { result: reply.result };
  };
}

/**
 * Parses the arguments from their bytes, so that large integers stay exact. Accepts unambiguous mistakes of models:
 * `tool_name` inside `parameters`, `parameters` as JSON text or missing.
 */
function parseArguments({ members }: Call): CallArguments {
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

/** JSON inside a text gets the same checks as a message. */
function objectFromText(text: Buffer): RawObject | { readonly problem: string } {
  try {
    const members = RawObject.parse(text); // first, because it limits the size for the decoder
    const repeats = hasRepeatedMembers(members, decode(text));
    return repeats ? { problem: 'parameters have a duplicate member' } : members;
  } catch {
    return { problem: NO_OBJECT }; // not JSON
  }
}

const NO_OBJECT = 'parameters must be an object that matches the inputSchema of the tool';
const NULL = Buffer.from('null');

/** An error text that helps a model; reveals no more about a forbidden tool than a direct call. */
async function explainFailure(
  core: Pick<Core, 'toolsFor'>,
  call: Call,
  name: string,
  reply: Exclude<Reply, { readonly result: unknown }>,
): Promise<MeasuredResult> {
  if ('refusal' in reply) {
    if (asksForScopes(reply.refusal)) throw new CallRefused(reply.refusal); // the client can get such a token and repeat the call
    const { reason, retryAfterMs } = reply.refusal;
    const later = retryAfterMs === undefined ? '' : `; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
    return { result: toolFailure(`${reason}${later}`) };
  }
  if (reply.error.code !== UNKNOWN) return { result: toolFailure(reply.error.message) };
  const names = (await core.toolsFor(call)).map(({ key }) => key);
  // the tool exists and rejected its arguments
  if (names.includes(name)) return { result: toolFailure(reply.error.message) };
  const near = nearest(name, names);
  const hint = near === undefined ? `search with ${FIND_TOOL} and use the exact name` : `did you mean "${near}"?`;
  return { result: toolFailure(`tool not found: ${name.slice(0, MAX_NAME)} (${hint})`), isNotFound: true };
}

const UNKNOWN = -32602;
const MAX_NAME = 200; // of an unknown name in an error
