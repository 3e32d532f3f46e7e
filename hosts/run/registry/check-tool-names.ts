import { nearest } from '@toolmgr/core';
import type { RegistryEntry } from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../options/options.ts';

/**
 * Checks the names of `--tools` against the tools of a registry entry, if it lists them. With `--tools-override` they may be new
 * names, which are checked at the start of the workload.
 * @throws UsageError naming the tool
 */
export function checkToolNames(entry: RegistryEntry, { tools, toolsOverride }: RunFlags): void {
  const known = (entry.image ?? entry.remote).tools ?? [];
  if (tools === undefined || toolsOverride !== undefined || known.length === 0) return;
  const unknown = tools.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const close = nearest(unknown, known);
  const hint = close === undefined ? `it has ${known.join(', ')}` : `did you mean ${close}?`;
  throw new UsageError(`--tools: ${unknown} is not a tool of ${entry.name} in the registry (${hint})`);
}
