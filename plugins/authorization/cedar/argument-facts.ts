import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import { argumentTable, MAX_ARGUMENTS, type PolicyArgument, PREFIX } from './argument-table.ts';
import { cedarValue, UNREADABLE } from './cedar-values.ts';
import { findOtherTypes } from './compared-types.ts';
import type { Policy } from './parse-policies.ts';
import { similarNames } from './similar-names.ts';

/** Arguments as policies see them: `arg_` attributes of the resource and of the context. */
export interface ArgumentFacts {
  readonly attributes: Attributes;
  /** Policies that cannot decide about these arguments, by id, with the reason; `undefined` when all can. */
  readonly undecidable: ReadonlyMap<string, string> | undefined;
}

type Attributes = Readonly<Record<string, CedarValueJson>>;

/** No arguments that a policy reads. */
export const NO_ARGUMENTS: ArgumentFacts = { attributes: {}, undecidable: undefined };

/**
 * Creates the conversion of arguments; `undefined` when no policy reads arguments, so that they need not be decoded.
 *
 * Shape: `arg_x` for single values; an object or array under `x` is `arg_x_present: true`, even when an argument is
 * named `x_present`; null is absent. A policy cannot decide about an argument that it reads when Cedar cannot represent
 * the value, when it is too large, when it is an object or array and the policy does not read `arg_x_present`, when its
 * type is another than the policy compares with, and when its name is in another case: a server may use the value.
 */
export function createArgumentFacts(policies: readonly Policy[]) {
  const table = argumentTable(policies);
  if (table.reads.length === 0) return undefined;
  const similarIn = similarNames(table.arguments.flatMap(({ name, containerOf }) => [name, containerOf ?? name]));
  const otherTypesIn = findOtherTypes(table.reads);
  return (given: JsonObject, claims: Attributes): ArgumentFacts => {
    const read: Record<string, CedarValueJson> = {};
    const all = table.ofCall(given);
    let undecidable = all === undefined ? noted(undefined, table.wholeContext, TOO_MANY) : undefined;
    for (const { name, other } of similarIn(given)) {
      const reason = `${quoted(name)} differs only by case from ${quoted(other)}, which a policy reads`;
      undecidable = noted(undecidable, table.readersOf(other), reason);
    }
    let spent = 0;
    for (const argument of all ?? table.arguments) {
      if (argument.containerOf !== undefined && isNested(own(given, argument.containerOf))) {
        read[argument.attribute] = true;
        continue;
      }
      const value = own(given, argument.name);
      if (value === undefined || value === null) continue;
      if (isNested(value)) {
        undecidable = noted(undecidable, argument.singleReaders, `${quoted(argument.name)} ${IS_NESTED}`);
        continue;
      }
      const bytes = bytesOf(value, argument.maxBytes);
      spent += Math.min(bytes, argument.maxBytes) * argument.cost;
      const tooLarge = whyTooLarge(argument, bytes, spent);
      const converted = tooLarge === undefined && argument.name.isWellFormed() ? cedarValue(value) : UNREADABLE;
      if (converted === UNREADABLE) {
        undecidable = noted(undecidable, argument.readers, tooLarge ?? `${quoted(argument.name)} is not a Cedar value`);
      } else if (converted !== undefined) read[argument.attribute] = converted;
    }
    for (const { policy, attribute } of otherTypesIn(read, claims)) {
      const name = quoted(attribute.slice(PREFIX.length));
      undecidable = noted(undecidable, [policy], `${name} has another type than a policy compares it with`);
    }
    return { attributes: read, undecidable };
  };
}

const TOO_MANY = `there are more than ${MAX_ARGUMENTS} arguments`;
const IS_NESTED = 'is an array or object, and a policy reads a single value';

/** The first reason of a policy is kept. */
function noted(before: Map<string, string> | undefined, policies: readonly string[], reason: string) {
  if (policies.length === 0) return before;
  const undecidable = before ?? new Map<string, string>();
  for (const id of policies) if (!undecidable.has(id)) undecidable.set(id, reason);
  return undecidable;
}

function whyTooLarge({ name, maxBytes }: PolicyArgument, bytes: number, spent: number): string | undefined {
  if (bytes > maxBytes) return `${quoted(name)} is larger than ${maxBytes} bytes`;
  return spent > 1 ? 'the arguments that policies read are too large together' : undefined;
}

/** The bytes of a value in UTF-8; not counted when there are certainly too many, and estimated when they are few. */
function bytesOf(value: JsonValue, maxBytes: number): number {
  if (typeof value !== 'string') return NUMBER_BYTES;
  if (value.length > maxBytes) return Number.POSITIVE_INFINITY;
  return value.length < FEW ? value.length : Buffer.byteLength(value);
}

const NUMBER_BYTES = 8;
const FEW = 256;

function quoted(name: string): string {
  return `the argument ${JSON.stringify(name.slice(0, 64))}`;
}

function own(given: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function isNested(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}
