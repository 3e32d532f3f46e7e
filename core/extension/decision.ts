import type { CatalogEntry } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { Hooks } from './hooks.ts';

/** Whether a caller may see and use an entry; `undefined` = allowed. */
export type Decision = (entry: CatalogEntry, caller: Caller) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Taps `authorize` and `advertise` with the same decision, so that a refused entry is not listed and a listed one is
 * not refused. A policy that depends on arguments taps `authorize` itself as well.
 */
export function tapDecision(hooks: Pick<Hooks, 'authorize' | 'advertise'>, address: string, decide: Decision): void {
  hooks.authorize.tapPromise(address, async ({ target, caller }) => decide(target, caller));
  hooks.advertise.tapPromise(address, async (entries, caller) => {
    const refusals = await Promise.all(entries.map((entry) => decide(entry, caller)));
    return entries.filter((_, index) => refusals[index] === undefined);
  });
}
