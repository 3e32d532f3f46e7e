import type { Budget } from './limits.ts';
import type { Value } from './value.ts';

/**
 * A function of templates.
 *
 * Shape: `arity` is the minimum and maximum number of arguments; `takes: 'first'` means that the first must be a text.
 * Fails: ArgumentError about the arguments, without the function's name; LimitError at a bound.
 */
export interface TemplateFunction {
  readonly arity: readonly [least: number, most: number];
  readonly takes: 'any' | 'first';
  run(values: readonly Value[], budget: Budget): Value;
}

/** No maximum of arguments. */
export const ANY_NUMBER = Number.POSITIVE_INFINITY;
