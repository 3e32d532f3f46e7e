import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { RawObject } from './raw-json.ts';

/** The known member names of an object and of the objects inside it. */
export interface DeclaredNames {
  has(name: string): boolean;
  /** The known name that folds to this folded text. */
  like(folded: string): string | undefined;
  /** Names of the object, or of the objects in the array, under a member; `undefined` when none are known. */
  below(name: string): DeclaredNames | undefined;
}

/** A member that a case-insensitive reader confuses with another one. */
export interface AmbiguousName {
  readonly name: string;
  readonly other: string;
}

/** Makes declared names; of two that fold alike, the first is reported in errors. */
export function declaredNames(
  names: Iterable<string>,
  below: ReadonlyMap<string, DeclaredNames> = NOTHING_BELOW,
): DeclaredNames {
  const exact = new Set(names);
  const folded = new Map<string, string>();
  for (const name of exact) {
    const text = foldCase(name);
    if (!folded.has(text)) folded.set(text, name);
  }
  return { has: (name) => exact.has(name), like: (text) => folded.get(text), below: (name) => below.get(name) };
}

const NOTHING_BELOW: ReadonlyMap<string, DeclaredNames> = new Map();

/** The first undeclared member of the object itself that folds like a declared one. */
export function undeclaredAmbiguousName(object: JsonObject, declared: DeclaredNames): AmbiguousName | undefined {
  for (const name in object) {
    if (declared.has(name)) continue;
    const other = declared.like(foldCase(name));
    if (other !== undefined) return { name, other };
  }
  return undefined;
}

/**
 * The first member, at any depth, that folds like a declared one without being equal to it, or like another member of
 * the same object.
 *
 * Two declared members are distinguished by their reader, so they are allowed. Linear in the members.
 * Recursion is safe: the depth of decoded values is limited (MAX_JSON_DEPTH).
 */
export function ambiguousNameIn(value: JsonValue | undefined, declared?: DeclaredNames): AmbiguousName | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) {
      const found = ambiguousNameIn(element, declared);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return ambiguousNameInObject(value as JsonObject, declared);
}

function ambiguousNameInObject(object: JsonObject, declared: DeclaredNames | undefined): AmbiguousName | undefined {
  const found = (declared && undeclaredAmbiguousName(object, declared)) ?? ambiguousNeighbour(object, declared);
  if (found !== undefined) return found;
  for (const name in object) {
    const inner = object[name];
    if (typeof inner !== 'object' || inner === null) continue;
    const below = ambiguousNameIn(inner, declared?.below(name));
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Two undeclared members of one object that fold alike. */
function ambiguousNeighbour(object: JsonObject, declared: DeclaredNames | undefined): AmbiguousName | undefined {
  if (!hasDoubtfulName(object, declared)) return undefined;
  const seen = new Map<string, string>();
  for (const name in object) {
    if (declared?.has(name) === true) continue;
    const folded = foldCase(name);
    const other = seen.get(folded);
    if (other !== undefined) return { name, other };
    seen.set(folded, name);
  }
  return undefined;
}

function hasDoubtfulName(object: JsonObject, declared: DeclaredNames | undefined): boolean {
  for (const name in object) {
    if (!isFolded(name) && declared?.has(name) !== true) return true;
  }
  return false;
}

/**
 * Folds a name so that names are equal when some JSON reader treats them as equal.
 *
 * Go's encoding/json, Jackson and others find a member without regard to case, by Unicode simple folding: `K` (Kelvin
 * sign) is `k`, `ſ` is `s`. Full upper case folds more than that, so nothing is missed; `İ` is `i` for Java. A lone
 * surrogate reads as U+FFFD in most languages.
 */
export function foldCase(text: string): string {
  return text.toWellFormed().toLowerCase().toUpperCase().replaceAll(DOTTED_I, 'I');
}

const DOTTED_I = 'I\u0307'; // the upper case of the lower case of U+0130

/** Whether a text is unchanged by folding. Two such names fold alike only when they are equal; most names are such. */
export function isFolded(text: string): boolean {
  return FOLDED.test(text);
}

const FOLDED = /^[a-z0-9_.-]*$/;

/**
 * Whether an object anywhere in `raw` has a duplicate member. `value` is the same JSON decoded.
 *
 * The decoder keeps the last of two equal names; a backend that gets the bytes may keep the first, so it could read
 * other values than a policy. The parser counted every member, so a higher count than keys means a duplicate.
 * Source: RFC 8259 §4 (behaviour of equal names is unpredictable).
 */
export function hasRepeatedMembers(raw: RawObject, value: JsonValue): boolean {
  return raw.deepSize !== membersOf(value);
}

/** Recursion is safe: the depth of decoded values is limited (MAX_JSON_DEPTH). */
function membersOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) members += membersOf(element);
    return members;
  }
  for (const key in value) members += 1 + membersOf((value as Readonly<Record<string, JsonValue>>)[key]);
  return members;
}
