import { type CatalogDraft, type CatalogEntry, GatewayFault, renamed } from '@toolmgr/core';
import { type AggregationConfig, DEFAULT_PREFIX } from './config.ts';
import { isFromBackend } from './rules.ts';

/** How names are kept apart. */
export type ConflictRules = Pick<AggregationConfig, 'conflictResolution' | 'conflictResolutionConfig'>;

/**
 * Makes tool and prompt names distinct by the strategy of the rules. Resources and templates keep their URIs.
 *
 * What still collides afterwards is settled by the core: by the priority of the backends, else nobody gets it.
 * @throws GatewayFault CATALOG_CONFLICT when `manual` leaves tools with one name, listing each with its backends
 */
export function resolveConflicts(draft: CatalogDraft, rules: ConflictRules): CatalogDraft {
  const { prefixFormat, priorityOrder = [] } = rules.conflictResolutionConfig;
  const format = prefixFormat === '' ? DEFAULT_PREFIX : prefixFormat;
  const ranks = new Map(priorityOrder.map((backend, rank) => [backend, rank] as const).reverse());
  return STRATEGIES[rules.conflictResolution](draft, { format, ranks });
}

interface Naming {
  readonly format: string;
  /** Workloads of `priorityOrder` by place, 0 first. */
  readonly ranks: ReadonlyMap<string, number>;
}

type Strategy = (draft: CatalogDraft, naming: Naming) => CatalogDraft;

const STRATEGIES = { prefix, priority, manual } as const satisfies Record<
  AggregationConfig['conflictResolution'],
  Strategy
>;

function prefix(draft: CatalogDraft, { format }: Naming): CatalogDraft {
  return { ...draft, tools: allPrefixed(draft.tools, format), prompts: allPrefixed(draft.prompts, format) };
}

function priority(draft: CatalogDraft, { format, ranks }: Naming): CatalogDraft {
  const warnings: string[] = [];
  const tools = decided(draft.tools, ranks, warnings, (contenders) => allPrefixed(contenders, format));
  const { listed = [], unlisted = [] } = Object.groupBy(draft.prompts, ({ backend }) =>
    ranks.has(backend) ? 'listed' : 'unlisted',
  );
  // Ranks decide between bare names only: a prefixed prompt that meets a bare one is ambiguous, which the core settles.
  const bare = decided(listed, ranks, warnings, (contenders) => contenders);
  const prompts = [...bare, ...allPrefixed(unlisted, format)];
  return {
    ...draft,
    tools: withRanks(tools, ranks),
    prompts,
    resources: withRanks(draft.resources, ranks),
    templates: withRanks(draft.templates, ranks),
    warnings: [...draft.warnings, ...warnings],
  };
}

function manual(draft: CatalogDraft, { format }: Naming): CatalogDraft {
  const open = contentions(draft.tools).map(([key, contenders]) => {
    const workloads = contenders.map(({ backend }) => backend).sort();
    return `${key}: [${[...new Set(workloads)].join(', ')}]`;
  });
  if (open.length === 0) return { ...draft, prompts: allPrefixed(draft.prompts, format) };
  throw new GatewayFault(
    'CATALOG_CONFLICT',
    `unresolved tool name conflicts: ${open.sort().join('; ')} (give each an override with a name of its own)`,
  );
}

/** Entries without those that lose to a workload that `priorityOrder` puts first; where it says nothing, `undecided`. */
function decided<E extends CatalogEntry>(
  entries: readonly E[],
  ranks: ReadonlyMap<string, number>,
  warnings: string[],
  undecided: (contenders: readonly E[]) => readonly E[],
): E[] {
  const replaced = new Map<E, E | undefined>();
  for (const [key, contenders] of contentions(entries)) {
    const [winner] = contenders
      .filter(({ backend }) => ranks.has(backend))
      .sort((a, b) => (ranks.get(a.backend) ?? 0) - (ranks.get(b.backend) ?? 0));
    if (winner === undefined) {
      const others = undecided(contenders);
      contenders.forEach((entry, at) => {
        replaced.set(entry, others[at]);
      });
      continue;
    }
    for (const loser of contenders.filter(({ backend }) => backend !== winner.backend)) {
      replaced.set(loser, undefined);
      warnings.push(
        `aggregation: ${loser.kind} "${key}" of ${loser.backend} is dropped: ${winner.backend} comes first in priorityOrder`,
      );
    }
  }
  return entries.flatMap((entry) => {
    const kept = replaced.has(entry) ? replaced.get(entry) : entry;
    return kept === undefined ? [] : [kept];
  });
}

/** What the names of resources leave open, the core decides by the same order. */
function withRanks<E extends CatalogEntry>(entries: readonly E[], ranks: ReadonlyMap<string, number>): E[] {
  return entries.map((entry) => {
    const rank = isFromBackend(entry) ? ranks.get(entry.backend) : undefined;
    return rank === undefined ? entry : { ...entry, rank };
  });
}

/** Names that several backend entries have, with those entries. */
function contentions<E extends CatalogEntry>(entries: readonly E[]): (readonly [string, readonly E[]])[] {
  const byKey = Map.groupBy(entries.filter(isFromBackend), ({ key }) => key);
  return [...byKey].filter(([, contenders]) => contenders.length > 1);
}

function allPrefixed<E extends CatalogEntry>(entries: readonly E[], format: string): E[] {
  return entries.map((entry) => prefixed(entry, format));
}

function prefixed<E extends CatalogEntry>(entry: E, format: string): E {
  if (!isFromBackend(entry)) return entry;
  return renamed(entry, format.replaceAll('{workload}', () => entry.backend) + entry.key, 'prefix');
}
