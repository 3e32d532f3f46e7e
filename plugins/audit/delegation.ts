import { type Caller, isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

const MAX_ACTORS_WALKED = 1000; // bound of the loop for deeper claims

/**
 * The actors of a delegated token, outermost first; `undefined` without `act`.
 *
 * Shape: `{ chain: [{ iss, sub }], truncated?, omitted? }`, and `malformed` with a reason after the valid actors.
 * Source: RFC 8693 §4.1; vmcp spec §2 audit `maxDelegationDepth`.
 */
export function delegationOf({ claims }: Caller, maxDepth: number): JsonObject | undefined {
  let at: JsonValue | undefined = claims.act;
  if (at === undefined) return undefined;
  const chain: JsonObject[] = [];
  let omitted = 0;
  for (let depth = 0; at !== undefined && depth < MAX_ACTORS_WALKED; depth++) {
    const malformed = whyMalformed(at, depth);
    if (malformed !== undefined) return { chain, ...cutBy(omitted), malformed: true, malformedReason: malformed };
    const actor = at as JsonObject;
    if (chain.length < maxDepth) chain.push({ iss: actor.iss, sub: actor.sub });
    else omitted++;
    at = actor.act;
  }
  return { chain, ...cutBy(omitted) };
}

function cutBy(omitted: number): JsonObject {
  return omitted === 0 ? {} : { truncated: true, omitted };
}

function whyMalformed(act: JsonValue, depth: number): string | undefined {
  if (!isObject(act)) return depth === 0 ? 'act is not an object' : 'nested act is not an object';
  if (act.iss !== undefined && typeof act.iss !== 'string') return 'iss is not a string';
  if (act.sub !== undefined && typeof act.sub !== 'string') return 'sub is not a string';
  return undefined;
}
