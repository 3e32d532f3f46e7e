import type { Caller } from '../contract/caller.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { CatalogEntry } from '../contract/tool.ts';
import type { Hooks } from './hooks.ts';

/** Whether a caller may see and use an entry; `undefined` = nothing against it. */
export type Decision = (entry: CatalogEntry, caller: Caller) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Taps `authorize` and `advertise` with one decision, so that a call and a list cannot disagree: what is refused is not
 * listed, and what is listed is not refused. A policy that looks at arguments taps `authorize` itself as well.
 */
export function tapDecision(hooks: Pick<Hooks, 'authorize' | 'advertise'>, address: string, decide: Decision): void {
  hooks.authorize.tapPromise(address, async ({ target, caller }) => decide(target, caller));
  hooks.advertise.tapPromise(address, async (entries, caller) => {
    const refusals = await Promise.all(entries.map((entry) => decide(entry, caller)));
    return entries.filter((_, index) => refusals[index] === undefined);
  });
}
