import type { CatalogEntry, ToolEntry } from '@toolmgr/core';
import { isFromBackend, overriddenName, type Rules } from './rules.ts';

/**
 * Marks backend tools that clients must not see; inner calls still reach them.
 *
 * Shape: `excludeAllTools`, then the backend's `excludeAll`, then its `filter` decide; `hiddenBy` is the first that hides.
 * A filter entry is an overridden name, or an original name when no tool of the backend has it as an overridden name.
 */
export function filter(tools: readonly ToolEntry[], rules: Rules, excludeAllTools: boolean): ToolEntry[] {
  const taken = new Set(tools.map((tool) => `${tool.backend}\0${overriddenName(tool, rules)}`));
  return tools.map((tool) => {
    const hiddenBy = isFromBackend(tool) ? hidingRule(tool, rules, excludeAllTools, taken) : undefined;
    return hiddenBy === undefined ? tool : { ...tool, hiddenBy, shapedBy: [...tool.shapedBy, hiddenBy] };
  });
}

function hidingRule(
  tool: ToolEntry,
  rules: Rules,
  excludeAllTools: boolean,
  taken: ReadonlySet<string>,
): CatalogEntry['hiddenBy'] | undefined {
  if (excludeAllTools) return 'excludeAllTools';
  const { excludeAll = false, filter: advertised } = rules.get(tool.backend) ?? {};
  if (excludeAll) return 'excludeAll';
  if (advertised === undefined || advertised.has(overriddenName(tool, rules))) return undefined;
  const isOriginalName = advertised.has(tool.original) && !taken.has(`${tool.backend}\0${tool.original}`);
  return isOriginalName ? undefined : 'filter';
}
