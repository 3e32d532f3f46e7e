import type { Call, CallResult, CatalogEntry, ToolEntry } from '@toolmgr/core';
import type { CodeModeConfig } from './config.ts';
import { type Scope, scopeOf } from './scope.ts';
import { TOOL_NAME, toolDefinition } from './tool-definition.ts';

/** Caches the scope and the tool description of callers that see the same tools. */
export interface ScopeCache {
  /** The catalogue entry of the tool; each list gets its own description. */
  entry(): ToolEntry;
  /** The list with the description for its tools; a list without the tool is unchanged. */
  described(entries: readonly CatalogEntry[]): readonly CatalogEntry[];
  /** What the scripts of a caller with this list may call. */
  scope(entries: readonly ToolEntry[]): Scope;
}

const MAX_SCOPES_PER_CATALOG = 64; // different lists of tools

interface CachedScope {
  readonly scope: Scope;
  readonly entry: CatalogEntry;
}

/** Creates the cache. Cached scopes are released with the catalogue that they belong to. */
export function createScopeCache(
  address: string,
  config: CodeModeConfig,
  run: (call: Call) => Promise<CallResult>,
): ScopeCache {
  const byList = new WeakMap<readonly CatalogEntry[], readonly CatalogEntry[]>();
  const byCatalog = new WeakMap<CatalogEntry, Map<string, CachedScope>>();
  const isScriptTool = (entry: CatalogEntry): boolean => entry.run === run;

  const cachedFor = (own: CatalogEntry, entries: readonly CatalogEntry[]): CachedScope => {
    const cached = byCatalog.get(own) ?? new Map<string, CachedScope>();
    byCatalog.set(own, cached);
    const listedNames = entries.map(({ key }) => key).join('\n');
    const found = cached.get(listedNames);
    if (found !== undefined) return found;
    const scope = scopeOf(entries as readonly ToolEntry[]);
    const entry: CatalogEntry = { ...own, definition: toolDefinition(scope, config) };
    byCatalog.set(entry, cached); // a list that is already described finds the same cache
    const made = { scope, entry };
    cached.set(listedNames, made);
    if (cached.size > MAX_SCOPES_PER_CATALOG) cached.delete(cached.keys().next().value ?? '');
    return made;
  };

  return {
    entry: () => ({
      kind: 'tool',
      key: TOOL_NAME,
      backend: address,
      original: TOOL_NAME,
      definition: toolDefinition(EMPTY_SCOPE, config),
      shapedBy: [address],
      isDispatcher: true,
      run,
    }),
    described(entries) {
      const known = byList.get(entries);
      if (known !== undefined) return known;
      const own = entries.find(isScriptTool);
      if (own === undefined) return entries;
      const { entry } = cachedFor(own, entries);
      const described = entries.map((each) => (each === own ? entry : each));
      byList.set(entries, described);
      return described;
    },
    scope(entries) {
      const own = entries.find(isScriptTool);
      return own === undefined ? scopeOf(entries) : cachedFor(own, entries).scope;
    },
  };
}

const EMPTY_SCOPE: Scope = { functions: [], names: [], find: () => undefined };
