import { nearest } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import type { Problem } from './problem.ts';

/**
 * Names of tools that no listed backend can give, found without asking any: only odd, since a tool of another name may have
 * been meant. What the backends do list is checked when they have answered: by the start, and by `validate --connect`.
 */
export function unknownTools(config: VmcpConfig): Problem[] {
  const names = config.backends?.map(({ name }) => name) ?? [];
  // a plugin of the file may bring tools under any name
  if (names.length === 0 || (config.plugins ?? []).length > 0) return [];
  return [...unknownSteps(config, names), ...unknownLimits(config, names)];
}

/** One step as it is written. */
interface Step {
  readonly tool?: string;
  readonly step?: Step;
}

/** Steps that name a tool as `workload.tool` of a workload that is not listed. */
function unknownSteps({ compositeTools = [], aggregation }: VmcpConfig, names: readonly string[]): Problem[] {
  const composites = new Set(compositeTools.map((tool) => (tool as { readonly name?: string }).name));
  const prefixes = prefixesOf(aggregation, names) ?? [];
  return compositeTools.flatMap(({ steps }, tool) =>
    (steps as readonly Step[]).flatMap((step, index) =>
      toolsOf(step, ['compositeTools', tool, 'steps', index]).flatMap(({ path, name }) => {
        const isKnown =
          composites.has(name) ||
          !name.includes('.') || // the own name of a tool, which only its backend knows
          names.some((workload) => name.startsWith(`${workload}.`)) ||
          prefixes.some((prefix) => name.startsWith(prefix));
        return isKnown ? [] : [{ path, message: noBackend(name.slice(0, name.indexOf('.')), names) }];
      }),
    ),
  );
}

function toolsOf({ tool, step }: Step, path: Problem['path']): { path: Problem['path']; name: string }[] {
  return [
    ...(tool === undefined ? [] : [{ path: [...path, 'tool'], name: tool }]),
    ...(step === undefined ? [] : toolsOf(step, [...path, 'step'])),
  ];
}

function noBackend(workload: string, names: readonly string[]): string {
  const hint = nearest(workload, names);
  return `no backend is named "${workload}"${hint === undefined ? ` (backends: ${names.join(', ')})` : `, did you mean "${hint}"?`}`;
}

/** Limits of tools whose name has no backend's prefix, where every name gets one. */
function unknownLimits(config: VmcpConfig, names: readonly string[]): Problem[] {
  const { rateLimiting, compositeTools = [], aggregation } = config;
  const prefixes = prefixesOf(aggregation, names);
  if (prefixes === undefined) return [];
  const own = new Set([...OF_THE_GATEWAY, ...compositeTools.map((tool) => (tool as { readonly name?: string }).name)]);
  return (rateLimiting?.tools ?? []).flatMap((tool, index) => {
    const { name = '' } = tool as { readonly name?: string };
    if (own.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) return [];
    const message = `no tool is named "${name}": names begin with ${prefixes.join(' or ')} (conflictResolution prefix)`;
    return [{ path: ['rateLimiting', 'tools', index, 'name'], message }];
  });
}

/** What names of tools begin with; `undefined` where some have no prefix. */
function prefixesOf(aggregation: unknown, names: readonly string[]): string[] | undefined {
  const { conflictResolution = 'prefix', conflictResolutionConfig } = aggregation as {
    readonly conflictResolution?: string;
    readonly conflictResolutionConfig?: { readonly prefixFormat?: string };
  };
  if (conflictResolution !== 'prefix') return undefined;
  const format = conflictResolutionConfig?.prefixFormat || '{workload}_';
  return names.map((workload) => format.replaceAll('{workload}', () => workload));
}

const OF_THE_GATEWAY = ['find_tool', 'call_tool', 'execute_tool_script'];
