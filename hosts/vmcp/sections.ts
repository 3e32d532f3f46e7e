import { type Catalogue, type ContractSection, isObject, type Plugin } from '@toolmgr/core';
import type { Problem } from './problem.ts';

/** A section of the file with its plugin and its conversion to a part of the plan. */
export interface Section extends ContractSection {
  /** The plugin's address in plans. */
  readonly address: string;
  /** The plugin, if it is listed under `plugins:`. Plugins of the catalogue are loaded when their section is present. */
  readonly own?: Plugin;
}

/** A section whose options are at `contractKey` in the file. */
export type KeyedSection = Section & { readonly contractKey: string };

/** The sections of the catalogue in its order, without their plugins. */
export async function sectionsOf(catalogue: Catalogue): Promise<readonly Section[]> {
  const found = await Promise.all(
    Object.entries(catalogue).map(async ([address, entry]) =>
      typeof entry === 'function' ? [] : [{ address, ...(await entry.contract()).contract }],
    ),
  );
  return found.flat();
}

/** Whether the section has a key in the file. */
export function hasKey(section: Section): section is KeyedSection {
  return section.contractKey !== undefined;
}

/** Its last key, e.g. `failureHandling` of `operational.failureHandling`. */
export function lastKey({ contractKey }: KeyedSection): string {
  return contractKey.slice(contractKey.lastIndexOf('.') + 1);
}

/** All paths where the section may be, e.g. one for each strategy of `outgoingAuth.*`. */
export function placesOf({ contractKey }: KeyedSection, file: unknown): Problem['path'][] {
  if (!contractKey.startsWith(`${STRATEGIES}.`)) return [contractKey.split('.')];
  return strategyPlaces(file).map((place) => [...place, contractKey.slice(STRATEGIES.length + 1)]);
}

/** The authentication strategies towards backends: every value is one strategy. */
export const STRATEGIES = 'outgoingAuth.*';

/** Paths of all strategies in the file, the default first. */
export function strategyPlaces(file: unknown): Problem['path'][] {
  const { default: fallback, backends } = objectAt(file, ['outgoingAuth']);
  return [
    ...(fallback === undefined ? [] : [['outgoingAuth', 'default']]),
    ...Object.keys(isObject(backends) ? backends : {}).map((name) => ['outgoingAuth', 'backends', name]),
  ];
}

/** The value at a path of the file. */
export function valueAt(file: unknown, path: Problem['path']): unknown {
  return path.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), file);
}

function objectAt(file: unknown, path: Problem['path']): Readonly<Record<string, unknown>> {
  const value = valueAt(file, path);
  return isObject(value) ? value : {};
}
