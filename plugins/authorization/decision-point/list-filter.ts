import type { CatalogEntry } from '@toolmgr/core';
import type { Answers } from './answers.ts';
import { type Question, questionOf } from './questions.ts';

type Entries = readonly CatalogEntry[];

const MAX_KEPT_PER_LIST = 256;

/**
 * Creates the filter of lists: the entries that a subject may use. A filtered list is used as long as an answer; requests at the same
 * time share one. A failure rejects and is not kept.
 */
export function createListFilter(answers: Answers, cacheForMs: number, server: string, now: () => number) {
  const kept = new WeakMap<Entries, Map<string, { readonly list: Promise<Entries>; readonly untilMs: number }>>();
  return (entries: Entries, subject: string): Promise<Entries> => {
    const lists = kept.get(entries) ?? new Map();
    kept.set(entries, lists);
    const known = lists.get(subject);
    if (known !== undefined && now() < known.untilMs) return known.list;
    const list = filtered(entries, answers, (entry) => questionOf(entry, subject, server));
    lists.delete(subject); // the oldest are first
    lists.set(subject, { list, untilMs: now() + cacheForMs });
    if (lists.size > MAX_KEPT_PER_LIST) lists.delete(lists.keys().next().value ?? '');
    list.catch(() => lists.delete(subject));
    return list;
  };
}

async function filtered(
  entries: Entries,
  answers: Answers,
  question: (entry: CatalogEntry) => Question,
): Promise<Entries> {
  const asked = entries.filter((entry) => !isDispatcher(entry));
  const decided = await answers.to(asked.map(question));
  const denied = new Set(asked.filter((_, at) => decided[at] !== true));
  return denied.size === 0 ? entries : entries.filter((entry) => !denied.has(entry));
}

/** What such a tool calls is asked about under its own name. */
export function isDispatcher(entry: CatalogEntry): boolean {
  return entry.kind === 'tool' && entry.isDispatcher === true;
}
