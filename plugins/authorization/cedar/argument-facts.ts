import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import { foldCase, type JsonObject, type JsonValue } from '@toolmgr/core';
import type { Mentions } from './expression.ts';
import { cedarValue, UNREADABLE } from './values.ts';

/** Arguments as policies see them: `arg_` attributes of the resource and of the context. */
export interface ArgumentFacts {
  readonly attributes: Readonly<Record<string, CedarValueJson>>;
  readonly undecidable: string | undefined;
}

/** A context that is used as a whole takes no more. */
const MAX_ARGUMENTS = 1_000;

/** No arguments, or none that any policy reads. */
export const NO_ARGUMENTS: ArgumentFacts = { attributes: {}, undecidable: undefined };

/**
 * Makes facts of arguments; `undefined` when no policy reads any, so that arguments need not even be decoded.
 *
 * Shape: `arg_x` for scalars; an object or array under `x` is `arg_x_present: true`, whatever an argument named
 * `x_present` says; null is absent. A scalar that Cedar cannot hold makes the call undecidable if a policy reads it.
 */
export function createArgumentFacts({ attributes, wholeContext }: Mentions) {
  const wanted = [...attributes].filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  if (wanted.length === 0 && !wholeContext) return undefined;
  const lookAlike = createLookAlike(wanted);
  return (given: JsonObject): ArgumentFacts => {
    const alike = lookAlike(given);
    if (alike !== undefined) return { attributes: {}, undecidable: alike };
    const names = wholeContext ? Object.keys(given).flatMap((name) => [name, name + PRESENT]) : wanted;
    if (wholeContext && names.length > MAX_ARGUMENTS * 2) {
      return { attributes: {}, undecidable: `there are more than ${MAX_ARGUMENTS} arguments` };
    }
    const read: [string, CedarValueJson][] = [];
    for (const name of names) {
      const value = argumentNamed(given, name);
      if (value === UNREADABLE) {
        return { attributes: {}, undecidable: `${shown(name)} is no Cedar value` };
      }
      if (value !== undefined) read.push([PREFIX + name, value]);
    }
    return { attributes: Object.fromEntries(read), undecidable: undefined };
  };
}

/** A backend may read `Path` as `path`; a policy does not. What a policy reads must come under its own name. */
function createLookAlike(wanted: readonly string[]) {
  const exact = new Set(
    wanted.flatMap((name) => (name.endsWith(PRESENT) ? [name, name.slice(0, -PRESENT.length)] : [name])),
  );
  const folded = new Map([...exact].map((name) => [foldCase(name), name]));
  return (given: JsonObject): string | undefined => {
    for (const name in given) {
      if (exact.has(name)) continue;
      const other = folded.get(foldCase(name));
      if (other !== undefined) return `${shown(name)} differs only by case from ${shown(other)}, which a policy reads`;
    }
    return undefined;
  };
}

function shown(name: string): string {
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
