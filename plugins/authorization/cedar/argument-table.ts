import type { JsonObject } from '@toolmgr/core';
import { type ArgumentReads, readArgumentReads } from './argument-reads.ts';
import { type EvaluationBudget, evaluationBudget } from './evaluation-budget.ts';
import type { Policy } from './parse-policies.ts';

/** One argument that policies read. */
export interface PolicyArgument {
  readonly name: string;
  readonly attribute: string;
  /** Of `x_present`: `x`, because the attribute also says that `x` is an object or array. */
  readonly containerOf: string | undefined;
  /** Ids of the policies that read it. */
  readonly readers: readonly string[];
  /** Those that read a single value only, and not whether it is an object or array. */
  readonly singleReaders: readonly string[];
  readonly maxBytes: number;
  /** What one byte takes of the budget of an evaluation, which is 1. */
  readonly cost: number;
}

/** The arguments that policies read. */
export interface ArgumentTable {
  readonly reads: readonly ArgumentReads[];
  readonly arguments: readonly PolicyArgument[];
  /** Ids of the policies that use the context as a whole. */
  readonly wholeContext: readonly string[];
  /** Ids of the policies that read an argument, or whether it is an object or array. */
  readersOf(name: string): readonly string[];
  /** The arguments of one call; with all that were given where a policy uses the context as a whole, unless they are too many. */
  ofCall(given: JsonObject): readonly PolicyArgument[] | undefined;
}

/** Attributes of arguments begin with it. */
export const PREFIX = 'arg_';
const PRESENT = '_present';

/** Maximum arguments when a policy uses the context as a whole. */
export const MAX_ARGUMENTS = 1_000;

/** Computes the table of policies, once. */
export function argumentTable(policies: readonly Policy[]): ArgumentTable {
  const reads = readArgumentReads(policies);
  const budget = evaluationBudget(policies);
  const names = new Set(reads.flatMap(({ attributes }) => [...attributes].map((each) => each.slice(PREFIX.length))));
  const known = [...names].map((name) => argumentOf(name, reads, budget));
  const wholeContext = reads.filter((each) => each.wholeContext).map(({ policy }) => policy);
  return {
    reads,
    arguments: known,
    wholeContext,
    readersOf: (name) => idsOf(reads, (each) => readsName(each, name) || readsName(each, name + PRESENT)),
    ofCall(given) {
      if (wholeContext.length === 0) return known;
      const all = Object.keys(given);
      if (all.length > MAX_ARGUMENTS) return undefined;
      const more = all.flatMap((name) => [name, name + PRESENT]).filter((name) => !names.has(name));
      return [...known, ...more.map((name) => argumentOf(name, reads, budget))];
    },
  };
}

function argumentOf(name: string, reads: readonly ArgumentReads[], budget: EvaluationBudget): PolicyArgument {
  const attribute = PREFIX + name;
  return {
    name,
    attribute,
    containerOf: name.endsWith(PRESENT) ? name.slice(0, -PRESENT.length) : undefined,
    readers: idsOf(reads, (each) => readsName(each, name)),
    singleReaders: idsOf(reads, (each) => each.attributes.has(attribute) && !each.attributes.has(attribute + PRESENT)),
    maxBytes: budget.maxBytes(attribute),
    cost: budget.costOf(attribute),
  };
}

function readsName({ attributes, wholeContext }: ArgumentReads, name: string): boolean {
  return wholeContext || attributes.has(PREFIX + name);
}

function idsOf(reads: readonly ArgumentReads[], isMeant: (each: ArgumentReads) => boolean): readonly string[] {
  return reads.filter(isMeant).map(({ policy }) => policy);
}
