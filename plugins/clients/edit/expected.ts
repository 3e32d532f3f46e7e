import { canonical, isObject, memberOf, withMember } from './canonical.ts';
import { type EditedText, faultAt, isFault, type Plain, type ServersPlace, type TextFault } from './entry-text.ts';

/** The entries of a parsed file. A list without names, and members of other shapes, are left out. */
export function entriesIn(root: Plain, { key, shape }: ServersPlace): ReadonlyMap<string, Plain> {
  const container = memberOf(root, key);
  if (shape === 'map') return new Map(isObject(container) ? Object.entries(container) : []);
  const named = Array.isArray(container) ? container : [];
  return new Map(named.flatMap((item) => namedItem(item)));
}

function namedItem(item: unknown): readonly [string, unknown][] {
  const name = memberOf(item, 'name');
  return typeof name === 'string' ? [[name, item]] : [];
}

/** Why the container of a file cannot hold entries; `undefined` when it can. */
export function containerFault(root: Plain, { key, shape }: ServersPlace): string | undefined {
  if (root !== undefined && root !== null && !isObject(root)) return 'the file does not hold an object';
  const container = memberOf(root, key);
  if (container === undefined || container === null) return undefined;
  const fits = shape === 'map' ? isObject(container) : Array.isArray(container);
  return fits ? undefined : `${key} is not ${shape === 'map' ? 'an object' : 'a list'}`;
}

/** What an edit means to change. */
export interface MeantEdit {
  /** The file before the edit. */
  readonly before: Plain;
  readonly name: string;
  /** The entry as the parser of the format reads it; `undefined` when it is removed. */
  readonly value: unknown;
}

/** The edited text; a fault when `parse` does not read exactly what was meant. */
export function checkedEdit(
  text: string,
  edited: EditedText,
  place: ServersPlace,
  { before, name, value }: MeantEdit,
  parse: (text: string, place: ServersPlace) => { readonly plain: Plain } | TextFault,
): EditedText | TextFault {
  const read = parse(edited.text, place);
  return !isFault(read) && isAsMeant(before, read.plain, place, name, value) ? edited : layoutFault(text, place);
}

/** The fault of an edit that would change other parts of the file. */
export function layoutFault(text: string, { key }: ServersPlace): TextFault {
  return faultAt(text, 0, `the layout of the file does not allow to edit ${key} without changing other parts`);
}

/**
 * Whether a text after an edit holds what was meant: everything that it held before, and the entry as `value`, or not at all
 * when that is `undefined`. An empty container counts as none.
 */
export function isAsMeant(before: Plain, after: Plain, place: ServersPlace, name: string, value: unknown): boolean {
  return canonical(without(meant(before, place, name, value), place)) === canonical(without(after, place));
}

function meant(before: Plain, { key, shape }: ServersPlace, name: string, value: unknown): Plain {
  const container = memberOf(before, key);
  if (shape === 'map') return withMember(before, key, withMember(container, name, value));
  const items = Array.isArray(container) ? [...container] : [];
  const index = items.findIndex((item) => memberOf(item, 'name') === name);
  if (index < 0) items.push(...(value === undefined ? [] : [value]));
  else items.splice(index, 1, ...(value === undefined ? [] : [value]));
  return withMember(before, key, items);
}

function without(root: Plain, { key }: ServersPlace): Plain {
  const container = memberOf(root, key);
  const isEmpty =
    container === undefined ||
    container === null ||
    (Array.isArray(container) ? container.length === 0 : isObject(container) && Object.keys(container).length === 0);
  return isEmpty ? withMember(root, key, undefined) : root;
}
