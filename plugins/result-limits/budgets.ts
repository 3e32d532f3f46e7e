import { BYTES_PER_TOKEN } from '@toolmgr/plugins/kit/settings';
import type { ResultLimitsConfig } from './config.ts';

/** Most bytes of a result of a tool; `undefined` when it has no budget. */
export type BudgetOf = (tool: string) => number | undefined;

/** Both kinds of budgets are lengths, so a result is compared with one number. */
export function budgetsOf({ default: others, tools }: Pick<ResultLimitsConfig, 'default' | 'tools'>): BudgetOf {
  const named = new Map(tools.map((tool) => [tool.name, mostBytes(tool)]));
  const byDefault = mostBytes(others ?? {});
  return (tool) => (named.has(tool) ? named.get(tool) : byDefault);
}

function mostBytes(budget: NonNullable<ResultLimitsConfig['default']>): number | undefined {
  const { bytes, estimatedTokens } = budget;
  if (estimatedTokens === undefined) return bytes;
  return Math.min(bytes ?? Number.POSITIVE_INFINITY, estimatedTokens * BYTES_PER_TOKEN);
}
