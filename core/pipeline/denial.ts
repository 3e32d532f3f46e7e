import type { Call, CatalogEntry, Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { Refusal } from '../contract/refusal.ts';
import { encode } from '../json/json-value.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { callWith } from './call-value.ts';
import type { Pipeline } from './pipeline.ts';
import { notFound } from './wire-faults.ts';

/** Why a call is not made. */
export type Denial = Exclude<Reply, { readonly result: unknown }>;

type DecidingHooks = Pick<Pipeline, 'authorize' | 'advertise' | 'mayBeOf'>;

/**
 * The response to a refused call: the refusal for an entry that the caller's lists show, otherwise the response for an
 * unknown name. So a call reveals no more than the lists do.
 */
export async function denialOf(pipeline: DecidingHooks, call: Call, refusal: Refusal): Promise<Denial> {
  const { advertise } = pipeline;
  // 429 and 503 do not mean that the caller lacks permission: a tool may be allowed although no list shows it
  const isForbidden = refusal.status === 403 || refusal.status === 401;
  if (advertise === undefined || call.target.isMissing || !isForbidden) {
    return { refusal: withChallenge(refusal, call.caller) };
  }
  const shown = await advertise([call.target], call.caller);
  if (shown.length > 0) return { refusal: withChallenge(refusal, call.caller) };
  return denialOfMissing(pipeline, callWith(call, { target: missingEntry(call.target.kind, call.name) }));
}

/**
 * Unknown names are authorized too, so that a refusal does not reveal which names exist; only an allowed one is
 * "unknown".
 */
export async function denialOfMissing(pipeline: DecidingHooks, call: Call): Promise<Denial> {
  const refusal = await pipeline.authorize(call);
  // where lists depend on the caller, names of backends do too
  const among = pipeline.advertise === undefined ? call.target.mayBeOf : undefined;
  if (refusal === undefined)
    return { error: notFound(call, pipeline.mayBeOf?.(listClassOf(call.client.owner)), among) };
  return { refusal: withChallenge(refusal, call.caller) };
}

/** A placeholder entry for an unknown name, so that policies can decide about the name. Never listed, never run. */
export function missingEntry(kind: EntryKind, name: string): CatalogEntry {
  return {
    kind: kind === 'template' ? 'resource' : kind, // an unknown URI matches no template either
    key: name,
    backend: '',
    original: name,
    definition: NOTHING,
    shapedBy: [],
    isMissing: true,
  };
}

const NOTHING = encode({});

/** Adds the caller's challenge to a 403 without one. */
export function withChallenge(refusal: Refusal, { challenge }: Caller): Refusal {
  if (challenge === undefined || refusal.status !== 403) return refusal;
  return { ...refusal, headers: { 'www-authenticate': challenge, ...refusal.headers } };
}
