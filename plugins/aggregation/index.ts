import { type CatalogDraft, type CatalogInputs, definePlugin } from '@toolmgr/core';
import { type AggregationConfig, aggregationConfig } from './config.ts';
import { contract } from './contract.ts';
import { filter } from './filter.ts';
import { type OverrideMemory, override } from './override.ts';
import { resolveConflicts } from './resolve-conflicts.ts';
import { rulesFrom } from './rules.ts';
import { warnUnmatched } from './warn-unmatched.ts';

const ADDRESS = 'aggregation';

/** Names of tools and prompts, and which tools clients see. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'renames, prefixes and hides what backends offer, so that one list holds them all',
  ...contract,
  config: aggregationConfig,
  apply(core, config) {
    core.hooks.shapeCatalog.tap(ADDRESS, createShape(config));
  },
});

/** Overrides, then conflicts, then filters: an overridden name is the one that conflicts and filters speak of. */
function createShape(config: AggregationConfig): (draft: CatalogDraft, inputs: CatalogInputs) => CatalogDraft {
  const rules = rulesFrom(config.tools);
  const memory: OverrideMemory = new WeakMap();
  return (draft, inputs) => {
    const warnings = [...draft.warnings, ...warnUnmatched(draft, config, inputs)];
    const overridden = { ...draft, tools: override(draft.tools, rules, memory), warnings };
    const resolved = resolveConflicts(overridden, config);
    return { ...resolved, tools: filter(resolved.tools, rules, config.excludeAllTools) };
  };
}
