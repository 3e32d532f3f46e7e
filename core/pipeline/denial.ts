import type { Call, CatalogEntry, Reply } from '../contract/call.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { Refusal } from '../contract/refusal.ts';
import { encode } from '../json/raw-json.ts';
import { callWith } from './call-value.ts';
import { challenged } from './challenged.ts';
import type { Pipeline } from './pipeline.ts';
import { notFound } from './wire-faults.ts';

/** Why a call is not made. */
export type Denial = Exclude<Reply, { readonly result: unknown }>;

type Deciding = Pick<Pipeline, 'authorize' | 'advertise' | 'starting'>;

/**
 * What a caller hears about a call that was refused: of an entry that its lists show, the refusal; of any other, what
 * it would hear if there were no such entry. So a call tells no more than the lists do.
 */
export async function denialOf(pipeline: Deciding, call: Call, refusal: Refusal): Promise<Denial> {
  const { advertise } = pipeline;
  // 429 and 503 do not say that the caller may not: a tool may be usable though no list shows it
  const isForbidden = refusal.status === 403 || refusal.status === 401;
  if (advertise === undefined || call.target.isMissing || !isForbidden) {
    return { refusal: challenged(refusal, call.caller) };
  }
  const shown = await advertise([call.target], call.caller);
  if (shown.length > 0) return { refusal: challenged(refusal, call.caller) };
  return denialOfMissing(pipeline, callWith(call, { target: missingEntry(call.target.kind, call.name) }));
}

/** A policy is asked about a name that nobody has as about any other; only where it has no objection is it "unknown". */
export async function denialOfMissing(pipeline: Deciding, call: Call): Promise<Denial> {
  const refusal = await pipeline.authorize(call);
  // where lists depend on the caller, names of backends do too
  const among = pipeline.advertise === undefined ? call.target.mayBeOf : undefined;
  if (refusal === undefined) return { error: notFound(call, pipeline.starting?.(), among) };
  return { refusal: challenged(refusal, call.caller) };
}

/** The entry that stands for a name nobody has, so that policy can decide about the name. Never listed, never run. */
export function missingEntry(kind: EntryKind, name: string): CatalogEntry {
  return {
    kind: kind === 'template' ? 'resource' : kind, // a URI that nobody has is like no template either
    key: name,
    backend: '',
    original: name,
    definition: NOTHING,
    shapedBy: [],
    isMissing: true,
  };
}

const NOTHING = encode({});
