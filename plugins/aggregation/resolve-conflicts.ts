import { type CatalogDraft, type CatalogEntry, GatewayFault, renamed } from '@toolmgr/core';
import { type AggregationConfig, DEFAULT_PREFIX } from './config.ts';
import { isFromBackend } from './rules.ts';

/** The configured conflict resolution. */
export type ConflictRules = Pick<AggregationConfig, 'conflictResolution' | 'conflictResolutionConfig'>;

/**
 * Makes tool and prompt names unique with the configured strategy. Resources and templates keep their URIs.
 *
 * The core resolves remaining conflicts by the rank of the backends, or drops the entries.
 * @throws GatewayFault CATALOG_CONFLICT when `manual` leaves tools with the same name; lists names and backends
 */
export function resolveConflicts(draft: CatalogDraft, rules: ConflictRules): CatalogDraft {
  const { prefixFormat, priorityOrder = [] } = rules.conflictResolutionConfig;
  const format = prefixFormat === '' ? DEFAULT_PREFIX : prefixFormat;
  const ranks = new Map(priorityOrder.map((backend, rank) => [backend, rank] as const).reverse());
  return STRATEGIES[rules.conflictResolution](draft, { format, ranks });
}

interface NamingRules {
  readonly format: string;
  /** Backends of `priorityOrder` with their index. */
  readonly ranks: ReadonlyMap<string, number>;
}

type Strategy = (draft: CatalogDraft, naming: NamingRules) => CatalogDraft;

const STRATEGIES = { prefix, priority, manual } as const satisfies Record<
  AggregationConfig['conflictResolution'],
  Strategy
>;

function prefix(draft: CatalogDraft, { format }: NamingRules): CatalogDraft {
  return { ...draft, tools: allPrefixed(draft.tools, format), prompts: allPrefixed(draft.prompts, format) };
}

function priority(draft: CatalogDraft, { format, ranks }: NamingRules): CatalogDraft {
  const warnings: string[] = [];
  const tools = resolveByRank(draft.tools, ranks, warnings, (entriesOfName) => allPrefixed(entriesOfName, format));
  const { listed = [], unlisted = [] } = Object.groupBy(draft.prompts, ({ backend }) =>
    ranks.has(backend) ? 'listed' : 'unlisted',
  );
  // Ranks decide only between names without prefix; the core resolves a conflict of a prefixed prompt with another name.
  const bare = resolveByRank(listed, ranks, warnings, (entriesOfName) => entriesOfName);
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

function manual(draft: CatalogDraft, { format }: NamingRules): CatalogDraft {
  const unresolved = conflicts(draft.tools).map(([key, entriesOfName]) => {
    const workloads = entriesOfName.map(({ backend }) => backend).sort();
    return `${key}: [${[...new Set(workloads)].join(', ')}]`;
  });
  if (unresolved.length === 0) return { ...draft, prompts: allPrefixed(draft.prompts, format) };
  throw new GatewayFault(
    'CATALOG_CONFLICT',
    `unresolved tool name conflicts: ${unresolved.sort().join('; ')} (give each a unique name with an override)`,
  );
}

/** Keeps the entry of the first backend in `priorityOrder`; calls `otherwise` when no backend of a name is listed. */
function resolveByRank<E extends CatalogEntry>(
  entries: readonly E[],
  ranks: ReadonlyMap<string, number>,
  warnings: string[],
  otherwise: (entriesOfName: readonly E[]) => readonly E[],
): E[] {
  const replaced = new Map<E, E | undefined>();
  for (const [key, entriesOfName] of conflicts(entries)) {
    const [winner] = entriesOfName
      .filter(({ backend }) => ranks.has(backend))
      .sort((a, b) => (ranks.get(a.backend) ?? 0) - (ranks.get(b.backend) ?? 0));
    if (winner === undefined) {
      const others = otherwise(entriesOfName);
      entriesOfName.forEach((entry, at) => {
        replaced.set(entry, others[at]);
      });
      continue;
    }
    for (const loser of entriesOfName.filter(({ backend }) => backend !== winner.backend)) {
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

/** Sets the rank, by which the core resolves conflicts of resources. */
function withRanks<E extends CatalogEntry>(entries: readonly E[], ranks: ReadonlyMap<string, number>): E[] {
  return entries.map((entry) => {
    const rank = isFromBackend(entry) ? ranks.get(entry.backend) : undefined;
    return rank === undefined ? entry : { ...entry, rank };
  });
}

/** Names that several backend entries share, with these entries. */
function conflicts<E extends CatalogEntry>(entries: readonly E[]): (readonly [string, readonly E[]])[] {
  const byKey = Map.groupBy(entries.filter(isFromBackend), ({ key }) => key);
  return [...byKey].filter(([, entriesOfName]) => entriesOfName.length > 1);
}

function allPrefixed<E extends CatalogEntry>(entries: readonly E[], format: string): E[] {
  return entries.map((entry) => prefixed(entry, format));
}

function prefixed<E extends CatalogEntry>(entry: E, format: string): E {
  if (!isFromBackend(entry)) return entry;
  return renamed(entry, format.replaceAll('{workload}', () => entry.backend) + entry.key, 'prefix');
}
