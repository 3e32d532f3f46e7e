import type { Era } from './era.ts';
import type { JsonObject, RawJson } from './json.ts';

/** The four kinds of catalogue entries. */
export type EntryKind = 'tool' | 'prompt' | 'resource' | 'template';

/** Why clients do not see an entry that inner calls can reach; `shadowed`: a curated tool has its name. */
export type HiddenBy = 'excludeAllTools' | 'excludeAll' | 'filter' | 'shadowed';

/**
 * A tool, prompt, resource or resource template, under the name that clients use for it.
 * A call names its entry, so the types of call and result are parameters here: see `CatalogEntry`.
 */
export interface EntryOf<C, R, K extends EntryKind = EntryKind> {
  readonly kind: K;
  /** Advertised tool or prompt name, resource URI, or URI template. */
  readonly key: string;
  /** Name of the backend, or the address of the plugin that made a virtual entry. */
  readonly backend: string;
  /** The backend's own name for it; equals `key` for URIs and templates. */
  readonly original: string;
  /** Names between `original` and `key`; inner calls find the tool as `backend.name` by them too. */
  readonly aliases?: readonly string[];
  /** Era of the backend that listed it; absent for virtual entries. */
  readonly era?: Era;
  /** The list item that clients get: the backend's bytes with only the overridden members replaced. */
  readonly definition: RawJson;
  readonly hiddenBy?: HiddenBy;
  /**
   * Why no list shows the entry until a person approves it, one clause. It is found by its name, so that the plugin that set this can
   * refuse each call with the reason, in `wrapDispatch`.
   */
  readonly held?: string;
  /**
   * What plugins found out about it, for policies: those of `names` that are known. Called only when a policy reads one of its names, so
   * that what costs time may be found out then.
   */
  readonly facts?: (names: ReadonlySet<string>) => JsonObject;
  /** Rank of its backend in an explicit priority order, 0 first; decides between backends that claim the same name. */
  readonly rank?: number;
  /** The only path that serves the entry: `front` is the endpoint's own path, `direct` the second one. Absent: both. */
  readonly servedAt?: 'front' | 'direct';
  /**
   * A virtual entry that only calls other tools. Policies decide each inner call under its real name; the entry itself
   * is refused only by a policy that forbids it by name.
   */
  readonly isDispatcher?: true;
  /** A dispatcher that makes one inner call at most, so that counting the entry also counts the inner call. */
  readonly makesOneCall?: true;
  /** A placeholder that `authorize` gets for an unknown name; never listed, never run. */
  readonly isMissing?: true;
  /**
   * For a resource that no list contains: the backends that might have it. There are several, so none was requested.
   */
  readonly mayBeOf?: readonly string[];
  /** What changed the entry, in order, e.g. `['override.name', 'prefix']`; shown by `vmcp explain`. */
  readonly shapedBy: readonly string[];
  /** Arguments mirrored into `Mcp-Param-*` headers, compiled when the list was read (MCP 2026-07-28, `x-mcp-header`). */
  readonly mirrored?: readonly MirroredParam[];
  /** Runs a virtual entry; without it the call is sent to the backend. */
  readonly run?: (call: C) => Promise<R>;
}

/** Header `Mcp-Param-{header}` takes the value at `path` inside the arguments. */
export interface MirroredParam {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}
