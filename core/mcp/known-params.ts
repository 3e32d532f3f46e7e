import type { CallMethod } from '../contract/call.ts';
import type { JsonObject } from '../contract/json.ts';
import { type DeclaredNames, declaredNames, type LookAlike, undeclaredLookAlike } from '../json/look-alikes.ts';
import { isObject } from '../json/raw-json.ts';

/**
 * The members of params that reach a backend, by the methods that policy decides. All others end here: what policy does
 * not know of must not reach a reader that takes it for something else.
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
 * Shape: `params` decoded. Arguments are not looked at: their names are the tool's.
 */
export function lookAlikeParam(method: string, params: JsonObject): LookAlike | undefined {
  const known = KNOWN.get(method) ?? COMMON;
  const found = undeclaredLookAlike(params, known);
  if (found !== undefined || method !== 'completion/complete') return found;
  for (const name of ['ref', 'argument', 'context']) {
    const [inner, names] = [params[name], known.below(name)];
    const below = isObject(inner) && names !== undefined ? undeclaredLookAlike(inner, names) : undefined;
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
