import type { BackendManager } from '../backend/backend-manager.ts';
import type { ToolEntry } from '../contract/call.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { CatalogRebuilt } from '../contract/event.ts';
import { explainCause, faultFrom, GatewayFault } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { sharedClass } from '../mcp/capabilities.ts';
import { type BuildParts, type BuiltCatalog, buildCatalog } from './build.ts';
import type { Catalog, CatalogChange, Catalogs } from './catalog.ts';

/** What the catalogues are made of, and their listener. */
export interface CatalogsParts extends BuildParts {
  readonly manager: Pick<BackendManager, 'listings'> & Partial<Pick<BackendManager, 'hasLists'>>;
  readonly limits: BuildParts['limits'] & Pick<Limits, 'coalesceMs'>;
  now(): number;
  readonly log: Log;
  /**
   * The `catalogRebuilt` hook: called for the first build of a class and for every build that differs from the previous
   * one.
   */
  onRebuilt(event: CatalogRebuilt): void;
}

/** A class in use: its catalogue and the backends whose lists it has, or why there is none. */
type State = { readonly catalog: Catalog; readonly backends: ReadonlySet<string> } | { readonly fault: GatewayFault };

/**
 * Catalogues by capability class. Each is built on first use and rebuilt when its lists change.
 *
 * A failed rebuild keeps the old catalogue and logs the reason. Without an old catalogue, or with an empty one, `of`
 * throws the fault until a change repairs it: an empty list would be wrong.
 */
export function createCatalogs(parts: CatalogsParts): Catalogs {
  const { log, limits } = parts;
  const states = new Map<string, State>();
  const listeners = new Set<(change: CatalogChange) => void>();
  /** Callers without lists of their own so far: they are notified when they get some. */
  const sawShared = new Set<string>();
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** A catalogue in use lacks a backend whose lists are known: no list may be answered without them. */
  let isIncomplete = false;
  /** When requests may build again: many backends that become ready one after the other must not fill the time with builds. */
  let restsUntilMs = 0;
  let isStopped = false;

  /** The class whose catalogue serves a class: callers without lists of their own see those of their capability class. */
  const servedBy = (listClass: string): string => {
    const shared = sharedClass(listClass);
    if (shared === listClass || parts.manager.hasLists === undefined) return listClass;
    return parts.manager.hasLists(listClass) ? listClass : shared;
  };

  const noteShared = (listClass: string): void => {
    sawShared.add(listClass);
    if (sawShared.size > MAX_NOTED) sawShared.delete(sawShared.values().next().value ?? '');
  };

  /** The classes in use that see changes of these classes. */
  const affectedBy = (changed: ReadonlySet<string>): readonly string[] =>
    [...states.keys()].filter((name) =>
      [name, sharedClass(name), EVERY_CLASS].some((capabilityClass) => changed.has(capabilityClass)),
    );

  /** Whether a catalogue was built before the lists of a backend were known. */
  const lacks = (capabilityClass: string, backend: string): boolean => {
    const state = states.get(capabilityClass);
    if (state === undefined || 'fault' in state || state.backends.has(backend)) return false;
    return parts.manager.listings(capabilityClass).has(backend);
  };

  const build = (capabilityClass: string, before = states.get(capabilityClass)): void => {
    const old = before !== undefined && 'catalog' in before ? before.catalog : undefined;
    const startedMs = parts.now();
    const listings = parts.manager.listings(capabilityClass);
    const state = stateFrom(() => buildCatalog(capabilityClass, listings, parts), new Set(listings.keys()), old, log);
    if (state === undefined) return;
    states.set(capabilityClass, state);
    if ('fault' in state) return;
    const { catalog } = state;
    const kinds = kindsThatDiffer(old, catalog);
    const tools = catalog.visible('tool').length;
    const reachable = catalog.direct().visible('tool') as readonly ToolEntry[];
    log.debug('catalogue built', { capabilityClass, tools, durationMs: parts.now() - startedMs });
    if (before !== undefined && kinds.length === 0 && sameTexts(old?.warnings, catalog.warnings)) return;
    parts.onRebuilt({ capabilityClass, kinds, tools, reachable, warnings: catalog.warnings });
    if (before !== undefined && kinds.length > 0) notify({ capabilityClass, kinds });
  };

  const notify = (change: CatalogChange): void => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (cause) {
        log.error('a listener of list changes failed', { cause: explainCause(cause) });
      }
    }
  };

  const rebuildPending = (): void => {
    clearTimeout(timer);
    timer = undefined;
    isIncomplete = false;
    const startedMs = parts.now();
    const affected = affectedBy(pending);
    // Lists of single callers appear and disappear; without them callers see those of their capability class.
    const come = [...pending].filter((name) => !states.has(name) && states.has(sharedClass(name)));
    pending.clear();
    for (const name of affected) {
      if (servedBy(name) === name) build(name);
      else forget(name);
    }
    for (const name of come) {
      if (servedBy(name) !== name) continue;
      sawShared.delete(name);
      build(name, states.get(sharedClass(name)));
    }
    const endedMs = parts.now();
    restsUntilMs = endedMs + REST_PER_BUILD * (endedMs - startedMs);
  };

  const forget = (name: string): void => {
    const old = states.get(name);
    states.delete(name);
    const served = states.get(sharedClass(name));
    if (old === undefined || served === undefined || !('catalog' in old) || !('catalog' in served)) return;
    const kinds = kindsThatDiffer(old.catalog, served.catalog);
    if (kinds.length > 0) notify({ capabilityClass: name, kinds });
  };

  return {
    of(listClass) {
      if (isIncomplete && parts.now() >= restsUntilMs) rebuildPending();
      const capabilityClass = servedBy(listClass);
      const shared = sharedClass(listClass);
      if (capabilityClass !== listClass) noteShared(listClass);
      // Lists that were read just now, for this request: other clients of the caller saw the shared ones.
      if (!states.has(capabilityClass))
        build(capabilityClass, sawShared.delete(listClass) ? states.get(shared) : undefined);
      const state = states.get(capabilityClass) ?? states.get(shared);
      if (state !== undefined && 'catalog' in state) return state.catalog;
      throw state?.fault ?? new GatewayFault('PLUGIN_FAILED', `no catalogue for class "${capabilityClass}"`);
    },
    changed(backend, capabilityClass) {
      if (isStopped) return;
      pending.add(capabilityClass);
      isIncomplete ||= affectedBy(new Set([capabilityClass])).some((name) => lacks(name, backend));
      // The timer is not restarted by later changes: a backend that changes all the time must not delay others'
      // changes.
      timer ??= setTimeout(rebuildPending, limits.coalesceMs).unref();
    },
    catchUp() {
      if (timer !== undefined) rebuildPending();
    },
    onChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    classes: () => [...states.keys()].sort(),
    stop() {
      isStopped = true;
      isIncomplete = false;
      clearTimeout(timer);
      timer = undefined;
      listeners.clear();
    },
  };
}

/** Times the duration of a build: requests cause builds in a tenth of the time at most. */
const REST_PER_BUILD = 9;
const MAX_NOTED = 20_000; // callers; one that is dropped is not notified

/**
 * `changed` with the base class affects every class, because classes without lists of their own use the base's lists.
 */
const EVERY_CLASS = '';

/** The new state of a class; `undefined` when the build failed and the old catalogue is kept. */
function stateFrom(
  build: () => BuiltCatalog,
  backends: ReadonlySet<string>,
  old: Catalog | undefined,
  log: Log,
): State | undefined {
  try {
    const { catalog, errors } = build();
    report(catalog, errors, old, log);
    return { catalog, backends };
  } catch (cause) {
    const fault = faultFrom(cause, 'PLUGIN_FAILED', 'the catalogue could not be built');
    const keepsOld = old !== undefined && KINDS.some((kind) => old.visible(kind).length > 0);
    const { code } = fault;
    log.error(
      keepsOld ? 'the old catalogue is kept: rebuilding it failed' : 'there is no catalogue: building it failed',
      {
        code,
        cause: explainCause(fault),
      },
    );
    return keepsOld ? undefined : { fault };
  }
}

/** Logs the warnings that the old catalogue did not have. */
function report(catalog: Catalog, errors: readonly string[], old: Catalog | undefined, log: Log): void {
  const { capabilityClass } = catalog;
  const known = new Set(old?.warnings);
  const serious = new Set(errors);
  let lines = 0;
  for (const warning of catalog.warnings) {
    if (known.has(warning) || ++lines > MAX_TOLD) continue;
    if (serious.has(warning)) log.error('the catalogue is incomplete', { capabilityClass, warning });
    else log.warn('the configuration names unknown entries', { capabilityClass, warning });
  }
  if (lines > MAX_TOLD)
    log.error('the catalogue is incomplete for more reasons', { capabilityClass, more: lines - MAX_TOLD });
}

/**
 * Limits the lines about one catalogue: a backend may list 50,000 names of another one, and change them all the time.
 */
const MAX_TOLD = 100;

const KINDS = ['tool', 'prompt', 'resource', 'template'] as const satisfies readonly EntryKind[];
const TOLD_AS = { tool: 'tools', prompt: 'prompts', resource: 'resources', template: 'resources' } as const;

/** The lists that changed for clients; without an old catalogue, the non-empty ones. */
export function kindsThatDiffer(old: Catalog | undefined, catalog: Catalog | undefined): CatalogChange['kinds'] {
  const direct = [old?.direct(), catalog?.direct()] as const;
  const hasDirectPaths = direct[0] !== old || direct[1] !== catalog;
  const differing = KINDS.filter(
    (kind) => !isSameList(old, catalog, kind) || (hasDirectPaths && !isSameList(...direct, kind)),
  );
  return [...new Set(differing.map((kind) => TOLD_AS[kind]))];
}

function isSameList(old: Catalog | undefined, catalog: Catalog | undefined, kind: EntryKind): boolean {
  const before = old?.visible(kind) ?? [];
  const after = catalog?.visible(kind) ?? [];
  if (before.length !== after.length) return false;
  return after.every((entry, at) => {
    const was = before[at];
    if (was === undefined || was.key !== entry.key || was.era !== entry.era) return false;
    return was.definition === entry.definition || was.definition.equals(entry.definition);
  });
}

function sameTexts(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a !== undefined && a.length === b.length && a.every((text, at) => text === b[at]);
}
