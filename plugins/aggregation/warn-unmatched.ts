import type { CatalogDraft, CatalogInputs } from '@toolmgr/core';
import type { AggregationConfig } from './config.ts';
import { overriddenName, type Rules, rulesFrom } from './rules.ts';

/**
 * Warnings about settings without effect: a backend that is not in the group, a tool that its backend does not list. Tools
 * of a backend without any list are skipped, because it may be unavailable.
 */
export function warnUnmatched(draft: CatalogDraft, config: AggregationConfig, inputs: CatalogInputs): string[] {
  const known = new Set(inputs.backends);
  const rules = rulesFrom(config.tools);
  const unknownBackends = (setting: string, workloads: readonly string[]) =>
    workloads
      .filter((workload) => !known.has(workload))
      .map((workload) => `aggregation: ${setting} names workload "${workload}", which is not in the group`);
  return [
    ...unknownBackends('tools', [...rules.keys()]),
    ...unknownBackends('priorityOrder', config.conflictResolutionConfig.priorityOrder ?? []),
    ...config.tools.flatMap((entry) => unmatchedTools(draft, entry, rules)),
  ];
}

function unmatchedTools(draft: CatalogDraft, entry: AggregationConfig['tools'][number], rules: Rules): string[] {
  const { workload, overrides, filter = [] } = entry;
  const tools = draft.tools.filter((tool) => tool.backend === workload);
  if (tools.length === 0) return [];
  const originals = new Set(tools.map(({ original }) => original));
  const names = new Set([...originals, ...tools.map((tool) => overriddenName(tool, rules))]);
  const missing = (setting: string, wanted: readonly string[], there: ReadonlySet<string>) =>
    wanted
      .filter((name) => !there.has(name))
      .map((name) => `aggregation: ${setting} of ${workload} names tool "${name}", which it does not list`);
  return [...missing('overrides', Object.keys(overrides), originals), ...missing('filter', filter, names)];
}
