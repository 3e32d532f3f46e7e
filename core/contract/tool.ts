import type { Call, CallResult } from './call.ts';
import type { RawJson } from './json.ts';

/** The four kinds of things a catalogue lists. */
export type EntryKind = 'tool' | 'prompt' | 'resource' | 'template';

/** Why an entry is routable inside the house but absent from what clients see. */
export type HiddenBy = 'excludeAllTools' | 'excludeAll' | 'filter';

/** One thing that may be called, read or got, under the name that clients use for it. */
export interface CatalogEntry<K extends EntryKind = EntryKind> {
  readonly kind: K;
  /** Advertised tool or prompt name, resource URI, or URI template. */
  readonly key: string;
  /** Name of the backend, or the address of the plugin that made a virtual entry. */
  readonly workload: string;
  /** The backend's own name for it; equals `key` for URIs and templates. */
  readonly original: string;
  /** The list item as clients get it: the backend's bytes with only the overridden members replaced. */
  readonly definition: RawJson;
  readonly hiddenBy?: HiddenBy;
  /** What changed the entry on its way, in order, e.g. `['override.name', 'prefix']`; shown by `vmcp explain`. */
  readonly shapedBy: readonly string[];
  /** Arguments mirrored into `Mcp-Param-*` headers, compiled when the list was read (MCP 2026-07-28, `x-mcp-header`). */
  readonly mirrored?: readonly MirroredParam[];
  /** A virtual entry answers itself; without it the call goes to backend `workload`. */
  readonly run?: (call: Call) => Promise<CallResult>;
}

export type ToolEntry = CatalogEntry<'tool'>;
export type PromptEntry = CatalogEntry<'prompt'>;
export type ResourceEntry = CatalogEntry<'resource'>;
export type TemplateEntry = CatalogEntry<'template'>;

/** Header `Mcp-Param-{header}` takes the value at `path` inside the arguments. */
export interface MirroredParam {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** Everything discovered, on its way to becoming a catalogue; each `shapeCatalog` tap returns a new one. */
export interface CatalogDraft {
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  /** Sentences for the operator: what was dropped and why. */
  readonly warnings: readonly string[];
}

/** What a `shapeCatalog` tap may know besides the draft. */
export interface CatalogInputs {
  /** Names of all configured backends, sorted. */
  readonly workloads: readonly string[];
}
