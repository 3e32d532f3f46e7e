import type { Policy } from './parse-policies.ts';
import { nodeOf, operands } from './references.ts';

/**
 * The time budget of one evaluation: 100 ms on the machine of the proofs. Cedar runs on the main thread and cannot be
 * interrupted, so the budget is a bound on what it is given: bytes of arguments, weighed by the policies that read them.
 */
const BUDGET_NS = 100_000_000;
/** Larger values are never evaluated, whatever the policies cost. */
export const MAX_VALUE_BYTES = 65_536;
/** However many policies there are, ordinary arguments are evaluated. */
const MIN_VALUE_BYTES = 1_024;
/** Measured: conversion of a byte to Cedar, once for the context and once for the resource; most for control characters. */
const CONVERSION_NS = 550;
/** Measured: a comparison with one byte, and with one byte for each character of a pattern that nearly matches. */
const COMPARISON_NS = 10;
const PATTERN_NS = 4;
/** Measured: an extension value of a byte, when it is invalid; the error repeats the text with its characters escaped. */
const EXTENSION_NS = 45;

/** How many bytes of arguments may be evaluated. */
export interface EvaluationBudget {
  /** Largest value of an attribute, in bytes. */
  maxBytes(attribute: string): number;
  /** The part of the budget that one byte of an attribute takes; all parts of one call may be 1 together. */
  costOf(attribute: string): number;
}

/** Computes the budget of policies. Of those that name a resource in their head only the ones for one resource count. */
export function evaluationBudget(policies: readonly Policy[]): EvaluationBudget {
  const always = new Map<string, number>();
  const byResource = new Map<string, Map<string, number>>();
  for (const { json } of policies) {
    const resource = json.resource.op === '==' ? JSON.stringify(json.resource) : undefined;
    const costs = resource === undefined ? always : (byResource.get(resource) ?? new Map<string, number>());
    if (resource !== undefined) byResource.set(resource, costs);
    for (const { body } of json.conditions) addCosts(body, costs);
  }
  const costs = new Map(always);
  for (const own of byResource.values()) {
    for (const [name, cost] of own) costs.set(name, Math.max(costs.get(name) ?? 0, cost + (always.get(name) ?? 0)));
  }
  const costOf = (name: string): number => (CONVERSION_NS + (costs.get(name) ?? COMPARISON_NS)) / BUDGET_NS;
  return {
    maxBytes: (name) => Math.min(MAX_VALUE_BYTES, Math.max(MIN_VALUE_BYTES, Math.floor(1 / costOf(name)))),
    costOf,
  };
}

function addCosts(expression: unknown, costs: Map<string, number>): void {
  const node = nodeOf(expression);
  if (node === undefined) return;
  const add = (name: unknown, cost: number): void => {
    if (typeof name === 'string' && name.startsWith('arg_')) costs.set(name, (costs.get(name) ?? 0) + cost);
  };
  const { attr, left, pattern } = (node.body ?? {}) as Readonly<Record<'attr' | 'left' | 'pattern', unknown>>;
  if (node.op === '.') add(attr, COMPARISON_NS);
  if (node.op === 'like' && Array.isArray(pattern)) {
    const read = nodeOf(left)?.body as { readonly attr?: unknown } | undefined;
    add(read?.attr, PATTERN_NS * pattern.length);
  }
  if (EXTENSIONS.has(node.op)) {
    for (const text of operands(node))
      add((nodeOf(text)?.body as { readonly attr?: unknown } | null)?.attr, EXTENSION_NS);
  }
  for (const inner of operands(node)) addCosts(inner, costs);
}

/** Functions that make a value of a text. */
const EXTENSIONS: ReadonlySet<string> = new Set(['decimal', 'ip', 'datetime', 'duration']);
