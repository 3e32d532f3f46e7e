import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

const MAX_DEPTH = 10;
const MAX_BYTES = 8 * 1024;

/** One party that acts for another. */
export interface Actor {
  readonly iss: string;
  readonly sub: string;
}

/**
 * The `act` claim of a delegated token: the actors in front of those of the subject token, outermost first.
 *
 * `undefined` when the earlier chain is malformed or the whole one has more than 10 actors or 8 KiB.
 * Source: RFC 8693 §4.1.
 */
export function actChain(actors: readonly [Actor, ...Actor[]], earlier: JsonValue | undefined): JsonObject | undefined {
  const depth = depthOf(earlier);
  if (depth === undefined || depth + actors.length > MAX_DEPTH) return undefined;
  const chain = actors.reduceRight<JsonObject | undefined>(
    (inner, { iss, sub }) => ({ iss, sub, ...(inner === undefined ? {} : { act: inner }) }),
    earlier as JsonObject | undefined,
  );
  return Buffer.byteLength(JSON.stringify(chain)) > MAX_BYTES ? undefined : chain;
}

/** Number of actors; `undefined` for a malformed chain. */
function depthOf(chain: JsonValue | undefined): number | undefined {
  let depth = 0;
  for (let at = chain; at !== undefined; at = at.act) {
    if (!isObject(at) || typeof at.sub !== 'string' || at.sub === '') return undefined;
    if (at.iss !== undefined && typeof at.iss !== 'string') return undefined;
    if (++depth > MAX_DEPTH) return undefined;
  }
  return depth;
}
