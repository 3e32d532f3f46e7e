import type { ScriptFunction, ToolEntry } from '@toolmgr/core';
import { identifier, isReserved } from './identifiers.ts';

/** The tools that a caller's scripts may call, with their names. */
export interface Scope {
  readonly functions: readonly BoundTool[];
  /** Finds a tool by its advertised name or by `group.member`. */
  find(name: string): ToolEntry | undefined;
  readonly names: readonly string[];
}

/** A tool with its names in the scope. */
export interface BoundTool extends ScriptFunction {
  readonly entry: ToolEntry;
}

const MAX_FUNCTIONS = 2_000; // bound again for each script; further tools are called with callTool

/**
 * Names the tools for scripts: `group.member`, where the group is the backend, and a global function with the advertised
 * name. On a conflict groups win over functions, and earlier tools over later ones; the others need `callTool`. Dispatchers
 * (such as the script tool itself) are left out: a script does not run scripts.
 */
export function scopeOf(entries: readonly ToolEntry[]): Scope {
  const tools = entries.filter(({ isDispatcher }) => isDispatcher !== true);
  const groups = groupNames(tools);
  const taken = new Set<string>(groups.values());
  const members = new Set<string>();
  const byName = new Map(tools.map((entry) => [entry.key, entry]));
  const functions = tools.slice(0, MAX_FUNCTIONS).map((entry): BoundTool => {
    const flat = claim(taken, identifier(entry.key));
    const group = entry.run === undefined ? groups.get(entry.backend) : undefined;
    const name = identifier(ownName(entry));
    const isFirst = group !== undefined && claim(members, `${group}.${name}`, false) !== undefined;
    if (isFirst && !byName.has(`${group}.${name}`)) byName.set(`${group}.${name}`, entry);
    return {
      entry,
      tool: entry.key,
      ...(flat === undefined ? {} : { flat }),
      ...(isFirst ? { member: { group, name } } : {}),
    };
  });
  return { functions, find: (name) => byName.get(name), names: tools.map(({ key }) => key) };
}

/** One group per backend; of two backends with the same identifier only the first gets one. */
function groupNames(tools: readonly ToolEntry[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { backend, run } of tools) {
    if (run !== undefined || names.has(backend)) continue;
    const plain = identifier(backend);
    const name = isReserved(plain) ? `${plain}_` : plain;
    if (claim(taken, name) !== undefined) names.set(backend, name);
  }
  return names;
}

/** Reserves a name; `undefined` when it is taken. */
function claim(taken: Set<string>, name: string, isGlobal = true): string | undefined {
  if (taken.has(name) || (isGlobal && isReserved(name))) return undefined;
  taken.add(name);
  return name;
}

/** The name without its prefix, but never a name that an override replaced: it may be hidden on purpose. */
function ownName({ key, original, aliases, shapedBy }: ToolEntry): string {
  return aliases?.at(-1) ?? (shapedBy.includes('override.name') ? key : original);
}
