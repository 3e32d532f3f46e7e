import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { RawObject } from './raw-json.ts';

/** Member names that the reader of an object declares, and those of the objects below. */
export interface DeclaredNames {
  has(name: string): boolean;
  /** The declared name that folds like this folded text. */
  like(folded: string): string | undefined;
  /** Names of the object, or of the objects in the array, under a member; `undefined` when none are declared. */
  below(name: string): DeclaredNames | undefined;
}

/** A member that a reader without regard to case takes for another. */
export interface LookAlike {
  readonly name: string;
  readonly other: string;
}

/** Makes declared names; the first of two that fold alike is the one that others are told of. */
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

/** The first member of the object itself that is not declared and folds like one that is. */
export function undeclaredLookAlike(object: JsonObject, declared: DeclaredNames): LookAlike | undefined {
  for (const name in object) {
    if (declared.has(name)) continue;
    const other = declared.like(foldCase(name));
    if (other !== undefined) return { name, other };
  }
  return undefined;
}

/**
 * The first member, at any depth, that folds like a declared one without being it, or like another member beside it.
 *
 * Two that are both declared are told apart by their reader, so they stay. Linear in the members.
 * Recursion is safe: the depth of what was decoded is bounded (MAX_JSON_DEPTH).
 */
export function lookAlikeIn(value: JsonValue | undefined, declared?: DeclaredNames): LookAlike | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) {
      const found = lookAlikeIn(element, declared);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return lookAlikeInObject(value as JsonObject, declared);
}

function lookAlikeInObject(object: JsonObject, declared: DeclaredNames | undefined): LookAlike | undefined {
  const found = (declared && undeclaredLookAlike(object, declared)) ?? lookAlikeBeside(object, declared);
  if (found !== undefined) return found;
  for (const name in object) {
    const inner = object[name];
    if (typeof inner !== 'object' || inner === null) continue;
    const below = lookAlikeIn(inner, declared?.below(name));
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Two undeclared members that fold alike. */
function lookAlikeBeside(object: JsonObject, declared: DeclaredNames | undefined): LookAlike | undefined {
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
 * The text in which names are equal when some JSON reader takes them for one name.
 *
 * Go's encoding/json, Jackson and others find a member without regard to case, by Unicode simple folding: `K` (Kelvin
 * sign) is `k`, `ſ` is `s`. Full upper case is coarser than that, so nothing is missed; `İ` is `i` for Java. A lone
 * surrogate reads as U+FFFD in most languages.
 */
export function foldCase(text: string): string {
  return text.toWellFormed().toLowerCase().toUpperCase().replaceAll(DOTTED_I, 'I');
}

const DOTTED_I = 'I\u0307'; // the upper case of the lower case of U+0130

/** Whether two names that are both so fold alike only when they are equal: most names are, and need no folding. */
export function isFolded(text: string): boolean {
  return FOLDED.test(text);
}

const FOLDED = /^[a-z0-9_.-]*$/;

/**
 * Whether an object anywhere in `raw` names a member twice. `value` is the same JSON decoded.
 *
 * The decoder keeps the last of two equal names; a backend that gets the bytes may keep the first. What one reads and
 * another sends on must not differ. The reader counted every member it passed, so more of them than keys means a name
 * that was lost.
 * Source: RFC 8259 §4 (behaviour of equal names is unpredictable).
 */
export function hasRepeatedMembers(raw: RawObject, value: JsonValue): boolean {
  return raw.deepSize !== membersOf(value);
}

/** Recursion is safe: the depth of what was decoded is bounded (MAX_JSON_DEPTH). */
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
