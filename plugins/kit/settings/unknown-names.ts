import { type CatalogDraft, type CatalogInputs, nearest } from '@toolmgr/core';

/** A name in a setting. */
export interface ConfiguredName {
  /** Path of the setting, e.g. `rate-limit: tools[0].name`. */
  readonly place: string;
  readonly kind: 'tool' | 'prompt';
  readonly name: string;
}

/**
 * Warnings about names that are not in the catalogue, with a suggestion: a misspelt name has no effect.
 *
 * No warnings while a backend has no list, because it may have the name.
 */
export function unknownNames(draft: CatalogDraft, inputs: CatalogInputs, wanted: readonly ConfiguredName[]): string[] {
  const entries = [...draft.tools, ...draft.prompts, ...draft.resources, ...draft.templates];
  const listed = new Set(entries.map(({ backend }) => backend));
  if (entries.length === 0 || inputs.backends.some((backend) => !listed.has(backend))) return [];
  const keys = { tool: draft.tools.map(({ key }) => key), prompt: draft.prompts.map(({ key }) => key) };
  const known = { tool: new Set(keys.tool), prompt: new Set(keys.prompt) };
  return wanted
    .filter(({ kind, name }) => !known[kind].has(name))
    .map(({ place, kind, name }) => {
      const meant = keys[kind].find((key) => key.endsWith(`_${name}`)) ?? nearest(name, keys[kind]);
      return `${place} names ${kind} "${name}", which does not exist${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
    });
}
