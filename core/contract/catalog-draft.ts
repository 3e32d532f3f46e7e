import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './call.ts';

/** All discovered entries, before they become a catalogue; each `shapeCatalog` tap returns a new draft. */
export interface CatalogDraft {
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  /** Sentences for the operator: what was dropped and why. */
  readonly warnings: readonly string[];
}

/** What a backend tells clients, and so models, about its use. */
export interface BackendInstructions {
  readonly backend: string;
  readonly text: string;
}

/** What a `shapeCatalog` tap gets besides the draft. */
export interface CatalogInputs {
  /** Names of all configured backends, sorted. */
  readonly backends: readonly string[];
  /** Backends whose lists are known, also those with empty lists, and what they tell clients. */
  readonly listed: readonly { readonly backend: string; readonly instructions: string | undefined }[];
}
