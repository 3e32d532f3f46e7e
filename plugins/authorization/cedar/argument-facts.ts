import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import { foldCase, type JsonObject, type JsonValue } from '@toolmgr/core';
import { cedarValue, UNREADABLE } from './cedar-values.ts';
import type { References } from './references.ts';

/** Arguments as policies see them: `arg_` attributes of the resource and of the context. */
export interface ArgumentFacts {
  readonly attributes: Readonly<Record<string, CedarValueJson>>;
  readonly undecidable: string | undefined;
}

/** Maximum arguments when a policy uses the context as a whole. */
const MAX_ARGUMENTS = 1_000;

/** No arguments that a policy reads. */
export const NO_ARGUMENTS: ArgumentFacts = { attributes: {}, undecidable: undefined };

/**
 * Creates the conversion of arguments; `undefined` when no policy reads arguments, so that they need not be decoded.
 *
 * Shape: `arg_x` for scalars; an object or array under `x` is `arg_x_present: true`, even when an argument is
 * named `x_present`; null is absent. A scalar that Cedar cannot represent makes the call undecidable if a policy reads it.
 */
export function createArgumentFacts({ attributes, wholeContext }: References) {
  const attributeNames = [...attributes]
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  if (attributeNames.length === 0 && !wholeContext) return undefined;
  const similarName = createSimilarNameCheck(attributeNames);
  return (given: JsonObject): ArgumentFacts => {
    const similar = similarName(given);
    if (similar !== undefined) return { attributes: {}, undecidable: similar };
    const names = wholeContext ? Object.keys(given).flatMap((name) => [name, name + PRESENT]) : attributeNames;
    if (wholeContext && names.length > MAX_ARGUMENTS * 2) {
      return { attributes: {}, undecidable: `there are more than ${MAX_ARGUMENTS} arguments` };
    }
    const read: [string, CedarValueJson][] = [];
    for (const name of names) {
      const value = argumentNamed(given, name);
      if (value === UNREADABLE) {
        return { attributes: {}, undecidable: `${quoted(name)} is not a Cedar value` };
      }
      if (value !== undefined) read.push([PREFIX + name, value]);
    }
    return { attributes: Object.fromEntries(read), undecidable: undefined };
  };
}

/** A backend may accept `Path` for `path`, but a policy does not; such arguments are refused. */
function createSimilarNameCheck(attributeNames: readonly string[]) {
  const exact = new Set(
    attributeNames.flatMap((name) => (name.endsWith(PRESENT) ? [name, name.slice(0, -PRESENT.length)] : [name])),
  );
  const folded = new Map([...exact].map((name) => [foldCase(name), name]));
  return (given: JsonObject): string | undefined => {
    for (const name in given) {
      if (exact.has(name)) continue;
      const other = folded.get(foldCase(name));
      if (other !== undefined)
        return `${quoted(name)} differs only by case from ${quoted(other)}, which a policy reads`;
    }
    return undefined;
  };
}

function quoted(name: string): string {
  return `the argument ${JSON.stringify(name.slice(0, 64))}`;
}

const PREFIX = 'arg_';
const PRESENT = '_present';

function argumentNamed(given: JsonObject, name: string) {
  if (!name.isWellFormed()) return UNREADABLE;
  if (name.endsWith(PRESENT) && isNested(own(given, name.slice(0, -PRESENT.length)))) return true;
  const value = own(given, name);
  return isNested(value) ? undefined : cedarValue(value);
}

function own(given: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function isNested(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}
