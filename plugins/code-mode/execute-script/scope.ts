import type { ScriptFunction, ToolEntry } from '@toolmgr/core';
import { identifier, isTaken } from './identifiers.ts';

/** What a caller's scripts may call, and by which names. */
export interface Scope {
  readonly functions: readonly BoundTool[];
  /** The tool under an advertised name, or under `group.member`; `undefined` for every other. */
  find(name: string): ToolEntry | undefined;
  readonly names: readonly string[];
}

/** A tool with its places in the scope. */
export interface BoundTool extends ScriptFunction {
  readonly entry: ToolEntry;
}

const MAX_FUNCTIONS = 2_000; // bound for each script anew; what comes after is reached by callTool

/**
 * Gives the tools their places: `group.member`, the group being the backend, and a flat function of the advertised
 * name. Groups come before flat names, and among equals the first in the order of the list; who loses is reached by
 * `callTool`. Ways in (the script tool itself) are left out: a script does not run scripts.
 */
export function scopeOf(entries: readonly ToolEntry[]): Scope {
  const tools = entries.filter(({ isDispatcher }) => isDispatcher !== true);
  const groups = groupNames(tools);
  const taken = new Set<string>(groups.values());
  const members = new Set<string>();
  const byName = new Map(tools.map((entry) => [entry.key, entry]));
  const functions = tools.slice(0, MAX_FUNCTIONS).map((entry): BoundTool => {
    const flat = claimed(taken, identifier(entry.key));
    const group = entry.run === undefined ? groups.get(entry.backend) : undefined;
    const name = identifier(ownName(entry));
    const isFirst = group !== undefined && claimed(members, `${group}.${name}`, false) !== undefined;
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

/** One group for each backend, unless two have the same name as an identifier. */
function groupNames(tools: readonly ToolEntry[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { backend, run } of tools) {
    if (run !== undefined || names.has(backend)) continue;
    const plain = identifier(backend);
    const name = isTaken(plain) ? `${plain}_` : plain;
    if (claimed(taken, name) !== undefined) names.set(backend, name);
  }
  return names;
}

/** The name when nobody had it before. */
function claimed(taken: Set<string>, name: string, isGlobal = true): string | undefined {
  if (taken.has(name) || (isGlobal && isTaken(name))) return undefined;
  taken.add(name);
  return name;
}

/** The name without its prefix, but never the one that an override replaced: that may be meant to stay unseen. */
function ownName({ key, original, aliases, shapedBy }: ToolEntry): string {
  return aliases?.at(-1) ?? (shapedBy.includes('override.name') ? key : original);
}
