import type { ToolEntry } from '../contract/call.ts';

/**
 * Names of tools for inner calls, in this order: advertised, `backend.original`, `backend.advertised`, and aliases;
 * visible tools before hidden ones.
 *
 * No backend can take over a name of another one: `backend.original` always means that backend, and a name of hidden
 * tools or aliases of several backends is left out. A tool that is held has only the names that no other tool has.
 */
export function innerCallNames(tools: readonly ToolEntry[]): ReadonlyMap<string, ToolEntry> {
  const names = new Map<string, ToolEntry>();
  const used = tools.filter(({ held }) => held === undefined);
  const held = tools.filter((tool) => tool.held !== undefined);
  const visible = used.filter(({ hiddenBy }) => hiddenBy === undefined);
  const hidden = used.filter(({ hiddenBy }) => hiddenBy !== undefined);
  for (const some of [visible, hidden, held])
    add(
      names,
      unambiguous(some, ({ key }) => [key]),
    );
  const all = [...visible, ...hidden];
  for (const [name, tool] of [...unambiguous(held, originalNames), ...unambiguous(all, originalNames)]) {
    const known = names.get(name);
    if (known === undefined || (known.run === undefined && known.backend !== tool.backend)) names.set(name, tool);
  }
  for (const namesOf of [
    ({ backend, key }: ToolEntry) => [`${backend}.${key}`],
    ({ backend, aliases = [] }: ToolEntry) => aliases.map((key) => `${backend}.${key}`),
  ]) {
    add(names, unambiguous(all, namesOf));
    add(names, unambiguous(held, namesOf));
  }
  return names;
}

function originalNames({ backend, original, run }: ToolEntry): readonly string[] {
  return run === undefined ? [`${backend}.${original}`] : [];
}

function add(names: Map<string, ToolEntry>, more: ReadonlyMap<string, ToolEntry>): void {
  for (const [name, tool] of more) if (!names.has(name)) names.set(name, tool);
}

/** The first tool of each name, without names that tools of several backends have. */
function unambiguous(
  tools: readonly ToolEntry[],
  namesOf: (tool: ToolEntry) => readonly string[],
): ReadonlyMap<string, ToolEntry> {
  const found = new Map<string, ToolEntry>();
  const contested = new Set<string>();
  for (const tool of tools) {
    for (const name of namesOf(tool)) {
      const known = found.get(name);
      if (known === undefined) found.set(name, tool);
      else if (known.backend !== tool.backend) contested.add(name);
    }
  }
  for (const name of contested) found.delete(name);
  return found;
}
