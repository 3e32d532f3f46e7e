import type { ToolEntry } from '@toolmgr/core';
import type { AggregationConfig, Override } from './config.ts';

/** What is said about the tools of one workload. */
export interface WorkloadRules {
  readonly excludeAll: boolean;
  /** Names that are advertised; `undefined` for all. */
  readonly filter: ReadonlySet<string> | undefined;
  /** By the backend's own tool name. */
  readonly overrides: ReadonlyMap<string, Override>;
}

/** Rules by workload. Maps, since backends choose tool names and `constructor` is one. */
export type Rules = ReadonlyMap<string, WorkloadRules>;

/** Compiles the `tools` entries. */
export function rulesFrom(tools: AggregationConfig['tools']): Rules {
  return new Map(
    tools.map(({ workload, excludeAll, filter, overrides }) => [
      workload,
      {
        excludeAll,
        filter: filter === undefined ? undefined : new Set(filter),
        overrides: new Map(Object.entries(overrides)),
      },
    ]),
  );
}

/** The tool's name after overrides and before conflict resolution: the one that rules speak of. */
export function overriddenName(tool: ToolEntry, rules: Rules): string {
  return rules.get(tool.backend)?.overrides.get(tool.original)?.name ?? tool.original;
}

/** A tool that a backend listed, not one that another plugin made. */
export function isFromBackend(tool: Pick<ToolEntry, 'run'>): boolean {
  return tool.run === undefined;
}
