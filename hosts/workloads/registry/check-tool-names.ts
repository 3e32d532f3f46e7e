import { nearest } from '@toolmgr/core';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { RegistryEntry } from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * Checks the tools that a configuration names against those of a registry entry, if it lists them: the keys of `--tools-override`, and
 * the names of `--tools`, which are new ones where the override gives one.
 *
 * Source: reference run-command §0.5.
 * @throws UsageError naming the option and the tool
 */
export function checkToolNames(
  entry: RegistryEntry,
  { tools_filter: filter = [], tools_override: overrides = {} }: Pick<RunConfig, 'tools_filter' | 'tools_override'>,
): void {
  const known = (entry.image ?? entry.remote).tools ?? [];
  if (known.length === 0) return;
  const renamed = known.map((tool) => (Object.hasOwn(overrides, tool) ? overrides[tool]?.name : undefined) ?? tool);
  refuseUnknown('--tools-override', Object.keys(overrides), known, entry.name);
  refuseUnknown('--tools', filter, renamed, entry.name);
}

function refuseUnknown(option: string, names: readonly string[], known: readonly string[], entry: string): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const close = nearest(unknown, known);
  const hint = close === undefined ? `it has ${known.join(', ')}` : `did you mean ${close}?`;
  throw new UsageError(`${option}: ${unknown} is not a tool of ${entry} in the registry (${hint})`);
}
