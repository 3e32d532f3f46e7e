import { setImmediate } from 'node:timers/promises';
import type { Caller, CatalogEntry } from '@toolmgr/core';
import type { Decisions } from './decisions.ts';
import type { Verdict } from './engine.ts';

/** Evaluations before the event loop continues, about ten milliseconds. */
const EVALUATIONS_PER_TURN = 50;
/** Cached lists per list of the catalogue. */
const MAX_CACHED_PER_LIST = 256;

/** Filters a list to the entries that the caller may use. */
export type Filter = (entries: readonly CatalogEntry[], caller: Caller) => Promise<readonly CatalogEntry[]>;

/**
 * Creates the list filter. A filtered list is cached until the catalogue changes. Callers that policies do not distinguish
 * share it, and concurrent requests share one evaluation.
 */
export function createFilter(decisions: Decisions, failed: (entry: CatalogEntry, verdict: Verdict) => void): Filter {
  const cache = new WeakMap<readonly CatalogEntry[], Map<string, Promise<readonly CatalogEntry[]>>>();
  return (entries, caller) => {
    if (entries.length <= 1) return filterEntries(entries, caller, decisions, failed);
    const key = decisions.keyOf(caller);
    let lists = cache.get(entries);
    if (lists === undefined) {
      lists = new Map();
      cache.set(entries, lists);
    }
    const known = lists.get(key);
    if (known !== undefined) return known;
    const list = filterEntries(entries, caller, decisions, failed);
    lists.set(key, list);
    if (lists.size > MAX_CACHED_PER_LIST) lists.delete(lists.keys().next().value ?? '');
    list.catch(() => cache.get(entries)?.delete(key)); // the next request tries again
    return list;
  };
}

async function filterEntries(
  entries: readonly CatalogEntry[],
  caller: Caller,
  decisions: Decisions,
  failed: (entry: CatalogEntry, verdict: Verdict) => void,
): Promise<readonly CatalogEntry[]> {
  const allowed: CatalogEntry[] = [];
  let pauseAt = decisions.evaluations + EVALUATIONS_PER_TURN;
  for (const entry of entries) {
    const verdict = decisions.ofEntry(entry, caller);
    if (verdict.isAllowed) allowed.push(entry);
    else if (verdict.errors.length > 0) failed(entry, verdict);
    if (decisions.evaluations < pauseAt) continue;
    await setImmediate();
    pauseAt = decisions.evaluations + EVALUATIONS_PER_TURN;
  }
  return allowed.length === entries.length ? entries : allowed;
}
