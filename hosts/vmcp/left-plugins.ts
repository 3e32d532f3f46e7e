import { type Catalogue, definePlugin, isObject, nearest } from '@toolmgr/core';
import { z } from 'zod';
import { chosenTypes, type KeyedSection, type Section, STRATEGIES, strategySection } from './sections.ts';

/** Plugins under `plugins:` that were not loaded. */
export interface LeftPlugins {
  /** Sections of plugins under `plugins:`. */
  readonly sections: readonly Section[];
  /** Their addresses. */
  readonly notLoaded: readonly string[];
}

/**
 * Why an address is a mistake, although its plugin is not loaded: it begins like those of the catalogue, which are no packages, and is
 * none of them.
 */
export function misspelt(use: string, catalogue: Catalogue): string | undefined {
  const [family = '', rest] = use.split('/');
  if (rest === undefined || !Object.keys(catalogue).some((address) => address.startsWith(`${family}/`)))
    return undefined;
  return `no plugin has the address ${use}${similarTo(use, catalogue)}`;
}

/** `, did you mean …?` with an address of the catalogue; empty without a similar one. */
export function similarTo(use: string, catalogue: Catalogue): string {
  const similar = nearest(use, Object.keys(catalogue));
  return similar === undefined ? '' : `, did you mean "${similar}"?`;
}

/** What the catalogue reads of a file. */
interface KnownParts {
  readonly taken: () => readonly string[];
  readonly strategies: () => readonly string[];
}

/**
 * Sections for the parts of a file that nothing of the catalogue reads, so that they are accepted as written: a plugin that is not
 * loaded may read them. Without such plugins there are none.
 */
export function leavePlugins(notLoaded: readonly string[], file: unknown, known: KnownParts): LeftPlugins {
  if (notLoaded.length === 0 || !isObject(file)) return { sections: [], notLoaded };
  const strategies = new Set(known.strategies());
  const unknownTypes = [...chosenTypes(file, STRATEGIES)].filter(
    (type): type is string => typeof type === 'string' && !strategies.has(type),
  );
  return {
    sections: [
      ...unreadKeys(file, known).map((contractKey) => ({ address: '', own: NOT_LOADED, contractKey })),
      ...unknownTypes.map((type) => strategySection('', NOT_LOADED, type)),
    ],
    notLoaded,
  };
}

/** Keys at top level that only a plugin of the file may read. */
function unreadKeys(file: object, { taken }: Pick<KnownParts, 'taken'>): readonly string[] {
  const known = new Set(taken());
  return Object.keys(file).filter((key) => !known.has(key));
}

/** Whether a section was accepted as written, because the plugin that may read it was not loaded. */
export function isNotLoaded(section: Section): section is KeyedSection {
  return section.own === NOT_LOADED;
}

/** Stands for a plugin that was not loaded: it accepts everything. */
const NOT_LOADED = definePlugin({
  address: 'not-loaded',
  stability: 'stable',
  summary: 'stands for a plugin that was not loaded',
  config: z.unknown(),
  apply() {},
});
