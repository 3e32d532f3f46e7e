import { type CatalogDraft, type CatalogInputs, nearest } from '@toolmgr/core';

/** A name that a setting speaks of. */
export interface WantedName {
  /** Where it stands, e.g. `rate-limit: tools[0].name`. */
  readonly place: string;
  readonly kind: 'tool' | 'prompt';
  readonly name: string;
}

/**
 * One sentence per name that nothing in the catalogue has, with the one that is probably meant: a slip there protects nothing.
 *
 * Says nothing while a backend has no list: it may be away, and have the name.
 */
export function absentNames(draft: CatalogDraft, inputs: CatalogInputs, wanted: readonly WantedName[]): string[] {
  const entries = [...draft.tools, ...draft.prompts, ...draft.resources, ...draft.templates];
  const listed = new Set(entries.map(({ backend }) => backend));
  if (entries.length === 0 || inputs.backends.some((backend) => !listed.has(backend))) return [];
  const keys = { tool: draft.tools.map(({ key }) => key), prompt: draft.prompts.map(({ key }) => key) };
  const known = { tool: new Set(keys.tool), prompt: new Set(keys.prompt) };
  return wanted
    .filter(({ kind, name }) => !known[kind].has(name))
    .map(({ place, kind, name }) => {
      const meant = keys[kind].find((key) => key.endsWith(`_${name}`)) ?? nearest(name, keys[kind]);
      return `${place} names ${kind} "${name}", which is not there${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
    });
}
