import type { Call, CallResult, CatalogEntry, ToolEntry } from '@toolmgr/core';
import type { CodeModeConfig } from './config.ts';
import { type Scope, scopeOf } from './scope.ts';
import { TOOL_NAME, toolDefinition } from './tool-definition.ts';

/** Keeps what lists and scripts of one kind of caller have in common: the same tools, the same scope. */
export interface Desk {
  /** The tool as it stands in the catalogue; lists get a description of their own. */
  entry(): ToolEntry;
  /** The list with the description that fits it; any other list as it is. */
  described(entries: readonly CatalogEntry[]): readonly CatalogEntry[];
  /** What scripts of somebody who sees this list may call. */
  scope(entries: readonly ToolEntry[]): Scope;
}

const KEPT_PER_CATALOGUE = 64; // kinds of callers, by what they may use

interface Made {
  readonly scope: Scope;
  readonly entry: CatalogEntry;
}

/** Makes the desk. What it keeps goes with the catalogue it was made for. */
export function createDesk(address: string, config: CodeModeConfig, run: (call: Call) => Promise<CallResult>): Desk {
  const byList = new WeakMap<readonly CatalogEntry[], readonly CatalogEntry[]>();
  const byCatalogue = new WeakMap<CatalogEntry, Map<string, Made>>();
  const isOurs = (entry: CatalogEntry): boolean => entry.run === run;

  const madeFor = (own: CatalogEntry, entries: readonly CatalogEntry[]): Made => {
    const kept = byCatalogue.get(own) ?? new Map<string, Made>();
    byCatalogue.set(own, kept);
    const seen = entries.map(({ key }) => key).join('\n');
    const found = kept.get(seen);
    if (found !== undefined) return found;
    const scope = scopeOf(entries as readonly ToolEntry[]);
    const entry: CatalogEntry = { ...own, definition: toolDefinition(scope, config) };
    byCatalogue.set(entry, kept); // a list that was described already leads here too
    const made = { scope, entry };
    kept.set(seen, made);
    if (kept.size > KEPT_PER_CATALOGUE) kept.delete(kept.keys().next().value ?? '');
    return made;
  };

  return {
    entry: () => ({
      kind: 'tool',
      key: TOOL_NAME,
      backend: address,
      original: TOOL_NAME,
      definition: toolDefinition(NOBODYS, config),
      shapedBy: [address],
      isDispatcher: true,
      run,
    }),
    described(entries) {
      const known = byList.get(entries);
      if (known !== undefined) return known;
      const own = entries.find(isOurs);
      if (own === undefined) return entries;
      const { entry } = madeFor(own, entries);
      const described = entries.map((each) => (each === own ? entry : each));
      byList.set(entries, described);
      return described;
    },
    scope(entries) {
      const own = entries.find(isOurs);
      return own === undefined ? scopeOf(entries) : madeFor(own, entries).scope;
    },
  };
}

const NOBODYS: Scope = { functions: [], names: [], find: () => undefined };
