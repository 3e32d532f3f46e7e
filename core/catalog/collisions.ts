import type { CatalogDraft, CatalogEntry } from '../contract/tool.ts';
import type { CatalogConflict } from './catalog.ts';

/** The draft with one visible entry per key, and what had to go. `errors` are for the operator's eyes at once. */
export interface Settled {
  readonly draft: CatalogDraft;
  readonly errors: readonly string[];
  /** The errors as data. */
  readonly conflicts: readonly CatalogConflict[];
}

/**
 * Leaves one visible entry per key, whatever plugins and backends did.
 *
 * A virtual entry goes before those of backends, so that no backend can stand in for a curated tool. Between backends an
 * explicit order of priority decides; without one nobody gets what several claim, since clients and policies know an
 * entry by its name alone: a backend must not take the place of another by listing its names, or by sorting earlier.
 * Hidden entries keep their keys: only inner calls see them.
 */
export function settleCollisions(draft: CatalogDraft): Settled {
  const warnings: string[] = [];
  const conflicts: CatalogConflict[] = [];
  const settled: CatalogDraft = {
    tools: settle(draft.tools, warnings, conflicts),
    prompts: settle(draft.prompts, warnings, conflicts),
    resources: settle(draft.resources, warnings, conflicts),
    templates: settle(draft.templates, warnings, conflicts),
    warnings: [],
  };
  const errors = conflicts.map(contested);
  return { draft: { ...settled, warnings: [...draft.warnings, ...warnings, ...errors] }, errors, conflicts };
}

/**
 * The one of several claims on a name that counts: a virtual entry; what one backend alone claims, the first time; what
 * the backend claims that stands first in an explicit order. `undefined` when that decides nothing.
 */
export function decidedClaim<E extends CatalogEntry>(claims: readonly E[]): E | undefined {
  const virtual = claims.find(({ run }) => run !== undefined);
  const [first] = claims;
  if (virtual !== undefined || first === undefined) return virtual;
  if (claims.every(({ backend }) => backend === first.backend)) return first;
  const best = claims.reduce((one, other) => (rankOf(other) < rankOf(one) ? other : one));
  const isAlone = claims.every(({ backend, rank }) => backend === best.backend || rank !== best.rank);
  return best.rank !== undefined && isAlone ? best : undefined;
}

function rankOf({ rank }: CatalogEntry): number {
  return rank ?? Number.POSITIVE_INFINITY;
}

function settle<E extends CatalogEntry>(entries: readonly E[], warnings: string[], conflicts: CatalogConflict[]): E[] {
  const ranked = inOrder(entries);
  const dropped = new Set<E>();
  for (const [key, claims] of contestedKeys(ranked)) {
    const winner = decidedClaim(claims);
    const [first] = claims;
    if (winner === undefined && first !== undefined) {
      conflicts.push({ kind: first.kind, name: key, backends: [...new Set(claims.map(({ backend }) => backend))] });
    }
    for (const claim of claims) {
      if (claim === winner) continue;
      dropped.add(claim);
      const { kind, backend } = claim;
      if (winner !== undefined)
        warnings.push(`${kind} "${key}" of ${backend} is dropped: ${winner.backend} has that name`);
    }
  }
  return dropped.size === 0 ? ranked : ranked.filter((entry) => !dropped.has(entry));
}

/** Keys that more than one visible entry has, with those entries. */
function contestedKeys<E extends CatalogEntry>(entries: readonly E[]): ReadonlyMap<string, readonly E[]> {
  const first = new Map<string, E>();
  const contenders = new Map<string, E[]>();
  for (const entry of entries) {
    if (entry.hiddenBy !== undefined) continue;
    const before = first.get(entry.key);
    if (before === undefined) first.set(entry.key, entry);
    else {
      const claims = contenders.get(entry.key) ?? [before];
      claims.push(entry);
      contenders.set(entry.key, claims);
    }
  }
  return contenders;
}

function contested({ kind, name, backends }: CatalogConflict): string {
  return `${kind} "${name}" is dropped: ${backends.join(', ')} all claim that name`;
}

function inOrder<E extends CatalogEntry>(entries: readonly E[]): E[] {
  return [...entries].sort((a, b) => {
    if ((a.run === undefined) !== (b.run === undefined)) return a.run === undefined ? 1 : -1;
    return a.backend === b.backend ? 0 : a.backend < b.backend ? -1 : 1;
  });
}
