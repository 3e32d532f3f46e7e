import type { HiddenBy, ToolEntry } from '@toolmgr/core';
import { isFromBackend, overriddenName, type Rules } from './rules.ts';

/**
 * Marks backend tools that clients must not see; inside the gateway they stay routable.
 *
 * Shape: `excludeAllTools`, then the workload's `excludeAll`, then its `filter` decide; the first that hides is named.
 * A filter entry is an overridden name; only when no tool of the workload has that name is it an original one.
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
): HiddenBy | undefined {
  if (excludeAllTools) return 'excludeAllTools';
  const { excludeAll = false, filter: shown } = rules.get(tool.backend) ?? {};
  if (excludeAll) return 'excludeAll';
  if (shown === undefined || shown.has(overriddenName(tool, rules))) return undefined;
  const isCalledSo = shown.has(tool.original) && !taken.has(`${tool.backend}\0${tool.original}`);
  return isCalledSo ? undefined : 'filter';
}
