import { type Catalogue, type ContractSection, isObject, type Plugin } from '@toolmgr/core';
import type { Problem } from './problem.ts';

/** A section of the file with its plugin and its conversion to a part of the plan. */
export interface Section extends ContractSection {
  /** The plugin's address in plans. */
  readonly address: string;
  /** The plugin, if it is listed under `plugins:`. Plugins of the catalogue are loaded when their section is present. */
  readonly own?: Plugin;
  /** Its reader was not imported, as the file does not have the section. */
  readonly isUnread?: boolean;
}

/** What `type` says when it means the plugin of a section. */
export type Choice = NonNullable<Section['choice']>;

/** A section whose options are at `contractKey` in the file. */
export type KeyedSection = Section & { readonly contractKey: string };

/** The sections of the catalogue in its order. Their readers are imported where `isRead` says so, without their plugins. */
export async function sectionsOf(
  catalogue: Catalogue,
  isRead: (section: Section) => boolean = () => true,
): Promise<readonly Section[]> {
  const found = Object.entries(catalogue).flatMap(([address, entry]) =>
    typeof entry === 'function' || entry.section === undefined
      ? []
      : [{ place: { address, ...entry.section }, contract: entry.contract }],
  );
  return Promise.all(
    found.map(async ({ place, contract }) => {
      if (contract === undefined) return place;
      return isRead(place) ? { ...place, ...(await contract()).contract } : { ...place, isUnread: true };
    }),
  );
}

/** Whether a file has the section, or chooses it. */
export function isIn(file: unknown, section: Section): boolean {
  const { choice } = section;
  if (choice !== undefined) return chosenTypes(file, choice.of).has(choice.type);
  return hasKey(section) && valueAt(file, section.contractKey.split('.')) !== undefined;
}

/** Types that the file chooses in a section. */
export function chosenTypes(file: unknown, of: string): ReadonlySet<unknown> {
  const places = of === STRATEGIES ? strategyPlaces(file) : [[of]];
  return new Set(places.map((place) => valueAt(file, [...place, 'type'])));
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

/** The section of a strategy that a plugin under `plugins:` brings: its options are below its name in camel case. */
export function strategySection(address: string, own: Plugin, type: string): KeyedSection {
  const key = type.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return { address, own, choice: { of: STRATEGIES, type }, contractKey: `${STRATEGIES}.${key}` };
}

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
