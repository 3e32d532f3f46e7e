import type { CatalogEntry } from '../contract/call.ts';
import type { CatalogDraft } from '../contract/catalog-draft.ts';
import type { CatalogConflict } from './catalog.ts';

/** The draft with one visible entry per key, and what was dropped. `errors` are logged as errors. */
export interface ResolvedDraft {
  readonly draft: CatalogDraft;
  readonly errors: readonly string[];
  /** The errors as data. */
  readonly conflicts: readonly CatalogConflict[];
}

/**
 * Keeps one visible entry per key.
 *
 * A virtual entry wins over entries of backends, so that no backend can replace a curated tool. Between backends an
 * explicit priority order decides. Without one all of them are dropped: clients and policies identify an entry by its
 * name alone, so a backend must not take over a name of another one by listing it, or by sorting before it.
 * Hidden entries keep their keys, because only inner calls see them.
 */
export function resolveCollisions(draft: CatalogDraft): ResolvedDraft {
  const warnings: string[] = [];
  const conflicts: CatalogConflict[] = [];
  const settled: CatalogDraft = {
    tools: resolveKind(draft.tools, warnings, conflicts),
    prompts: resolveKind(draft.prompts, warnings, conflicts),
    resources: resolveKind(draft.resources, warnings, conflicts),
    templates: resolveKind(draft.templates, warnings, conflicts),
    warnings: [],
  };
  const errors = conflicts.map(contested);
  return { draft: { ...settled, warnings: [...draft.warnings, ...warnings, ...errors] }, errors, conflicts };
}

/**
 * The winner of several claims on a name: a virtual entry; the first entry when only one backend claims the name; the
 * entry of the backend with the highest priority. `undefined` when none of these decides.
 */
export function winningClaim<E extends CatalogEntry>(claims: readonly E[]): E | undefined {
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

function resolveKind<E extends CatalogEntry>(
  entries: readonly E[],
  warnings: string[],
  conflicts: CatalogConflict[],
): E[] {
  const ranked = inOrder(entries);
  const dropped = new Set<E>();
  for (const [key, claims] of conflictSentence(ranked)) {
    const winner = winningClaim(claims);
    const [first] = claims;
    if (winner === undefined && first !== undefined) {
      conflicts.push({ kind: first.kind, name: key, backends: [...new Set(claims.map(({ backend }) => backend))] });
    }
    for (const claim of claims) {
      if (claim === winner) continue;
      dropped.add(claim);
      const { kind, backend } = claim;
      if (winner !== undefined)
        warnings.push(`${kind} "${key}" of ${backend} is dropped: ${winner.backend} has the name too`);
    }
  }
  return dropped.size === 0 ? ranked : ranked.filter((entry) => !dropped.has(entry));
}

/** Keys with more than one visible entry, with these entries. */
function conflictSentence<E extends CatalogEntry>(entries: readonly E[]): ReadonlyMap<string, readonly E[]> {
  const first = new Map<string, E>();
  const contenders = new Map<string, E[]>();
  for (const entry of entries) {
    if (entry.hiddenBy !== undefined || entry.held !== undefined) continue;
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
