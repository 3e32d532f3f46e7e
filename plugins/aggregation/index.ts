import { type CatalogDraft, type CatalogInputs, definePlugin } from '@toolmgr/core';
import { type AggregationConfig, aggregationConfig } from './config.ts';
import { filter } from './filter.ts';
import { type OverrideCache, override } from './override.ts';
import { resolveConflicts } from './resolve-conflicts.ts';
import { rulesFrom } from './rules.ts';
import { warnUnmatched } from './warn-unmatched.ts';

const ADDRESS = 'aggregation';

/** Gives tools and prompts unique names, and hides tools. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'renames, prefixes and hides tools and prompts of backends, so that one list has them all',
  contractKey: 'aggregation',
  config: aggregationConfig,
  apply(core, config) {
    core.hooks.shapeCatalog.tap(ADDRESS, createShape(config));
  },
});

/** Applies overrides, then conflict resolution, then filters: both use the overridden names. */
function createShape(config: AggregationConfig): (draft: CatalogDraft, inputs: CatalogInputs) => CatalogDraft {
  const rules = rulesFrom(config.tools);
  const cache: OverrideCache = new WeakMap();
  return (draft, inputs) => {
    const warnings = [...draft.warnings, ...warnUnmatched(draft, config, inputs)];
    const overridden = { ...draft, tools: override(draft.tools, rules, cache), warnings };
    const resolved = resolveConflicts(overridden, config);
    return { ...resolved, tools: filter(resolved.tools, rules, config.excludeAllTools) };
  };
}
