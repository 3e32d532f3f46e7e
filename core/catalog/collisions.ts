import type { CatalogDraft, CatalogEntry } from '../contract/tool.ts';

/** The draft with one visible entry per key, and what had to go. `errors` are for the operator's eyes at once. */
export interface Settled {
  readonly draft: CatalogDraft;
  readonly errors: readonly string[];
}

/**
 * Leaves one visible entry per key, whatever plugins did.
 *
 * Virtual entries go before those of backends, so that no backend can stand in for a curated tool; then the first
 * workload in sorted order wins. Prompts of several claimants are all dropped: policy knows a prompt by its advertised
 * name, so a name that could mean two would be a hole. Hidden entries keep their keys: only inner calls see them.
 */
export function settleCollisions(draft: CatalogDraft): Settled {
  const warnings: string[] = [];
  const errors: string[] = [];
  const settled: CatalogDraft = {
    tools: firstWins(draft.tools, warnings),
    prompts: noneWins(draft.prompts, errors),
    resources: firstWins(draft.resources, warnings),
    templates: firstWins(draft.templates, warnings),
    warnings: [],
  };
  return { draft: { ...settled, warnings: [...draft.warnings, ...warnings, ...errors] }, errors };
}

function firstWins<E extends CatalogEntry>(entries: readonly E[], warnings: string[]): E[] {
  const winners = new Map<string, E>();
  const ranked = inRankOrder(entries);
  for (const entry of ranked) {
    if (entry.hiddenBy !== undefined) continue;
    const winner = winners.get(entry.key);
    if (winner === undefined) winners.set(entry.key, entry);
    else
      warnings.push(`${entry.kind} "${entry.key}" of ${entry.workload} is dropped: ${winner.workload} has that name`);
  }
  return ranked.filter((entry) => entry.hiddenBy !== undefined || winners.get(entry.key) === entry);
}

function noneWins<E extends CatalogEntry>(entries: readonly E[], errors: string[]): E[] {
  const ranked = inRankOrder(entries);
  const claimants = Map.groupBy(
    ranked.filter(({ hiddenBy }) => hiddenBy === undefined),
    ({ key }) => key,
  );
  for (const [key, claims] of claimants) {
    if (claims.length < 2) continue;
    errors.push(`prompt "${key}" is dropped: ${claims.map(({ workload }) => workload).join(', ')} all claim that name`);
  }
  return ranked.filter((entry) => entry.hiddenBy !== undefined || claimants.get(entry.key)?.length === 1);
}

function inRankOrder<E extends CatalogEntry>(entries: readonly E[]): E[] {
  return [...entries].sort((a, b) => {
    if ((a.run === undefined) !== (b.run === undefined)) return a.run === undefined ? 1 : -1;
    return a.workload === b.workload ? 0 : a.workload < b.workload ? -1 : 1;
  });
}
