import { setImmediate } from 'node:timers/promises';
import type { Caller, CatalogEntry } from '@toolmgr/core';
import type { Decisions } from './decisions.ts';
import type { Verdict } from './engine.ts';

/** Questions to policies in one go, some ten milliseconds: then others have their turn. */
const QUESTIONS_IN_ONE_GO = 50;
/** Filtered lists that are kept for each list of the catalogue, one per kind of caller. */
const KEPT_PER_LIST = 256;

/** Leaves of a list what its caller may use. */
export type Filter = (entries: readonly CatalogEntry[], caller: Caller) => Promise<readonly CatalogEntry[]>;

/**
 * Makes the filter of lists. A list that was filtered for a caller is kept until the catalogue makes a new one; callers
 * that no policy can tell apart share it, and who asks at the same time waits for the same answer.
 */
export function createFilter(decisions: Decisions, failed: (entry: CatalogEntry, verdict: Verdict) => void): Filter {
  const kept = new WeakMap<readonly CatalogEntry[], Map<string, Promise<readonly CatalogEntry[]>>>();
  return (entries, caller) => {
    if (entries.length <= 1) return filtered(entries, caller, decisions, failed);
    const key = decisions.keyOf(caller);
    let lists = kept.get(entries);
    if (lists === undefined) {
      lists = new Map();
      kept.set(entries, lists);
    }
    const known = lists.get(key);
    if (known !== undefined) return known;
    const list = filtered(entries, caller, decisions, failed);
    lists.set(key, list);
    if (lists.size > KEPT_PER_LIST) lists.delete(lists.keys().next().value ?? '');
    list.catch(() => kept.get(entries)?.delete(key)); // the next one may have more luck
    return list;
  };
}

async function filtered(
  entries: readonly CatalogEntry[],
  caller: Caller,
  decisions: Decisions,
  failed: (entry: CatalogEntry, verdict: Verdict) => void,
): Promise<readonly CatalogEntry[]> {
  const shown: CatalogEntry[] = [];
  let pauseAt = decisions.asked + QUESTIONS_IN_ONE_GO;
  for (const entry of entries) {
    const verdict = decisions.ofEntry(entry, caller);
    if (verdict.isAllowed) shown.push(entry);
    else if (verdict.errors.length > 0) failed(entry, verdict);
    if (decisions.asked < pauseAt) continue;
    await setImmediate();
    pauseAt = decisions.asked + QUESTIONS_IN_ONE_GO;
  }
  return shown.length === entries.length ? entries : shown;
}
