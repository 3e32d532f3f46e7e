import type { ToolEntry } from '@toolmgr/core';
import type { AggregationConfig, Override } from './config.ts';

/** The rules for the tools of one backend. */
export interface BackendRules {
  readonly excludeAll: boolean;
  /** Advertised names; `undefined` for all. */
  readonly filter: ReadonlySet<string> | undefined;
  /** By the original name of the tool. */
  readonly overrides: ReadonlyMap<string, Override>;
}

/** Rules by backend. Maps, because a tool may be named `constructor`. */
export type Rules = ReadonlyMap<string, BackendRules>;

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

/** The tool's name after overrides and before conflict resolution, which rules refer to. */
export function overriddenName(tool: ToolEntry, rules: Rules): string {
  return rules.get(tool.backend)?.overrides.get(tool.original)?.name ?? tool.original;
}

/** Whether a backend listed the tool; false for tools of plugins. */
export function isFromBackend(tool: Pick<ToolEntry, 'run'>): boolean {
  return tool.run === undefined;
}
