import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './call.ts';

export type {
  CatalogEntry,
  EntryKind,
  HiddenBy,
  MirroredParam,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  ToolEntry,
} from './call.ts';

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
