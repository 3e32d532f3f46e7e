import { compareFunctions } from './compare.ts';
import { escapeFunctions } from './escape.ts';
import { jsonFunctions } from './go-json.ts';
import { indexFunctions } from './index-slice.ts';
import { printFunctions } from './print.ts';
import type { TemplateFunction } from './template-function.ts';
import { truth } from './value.ts';

/** Go's template functions, and `json`, `quote`, `fromJson`. The evaluator itself has `and` and `or`, which short-circuit. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  ...compareFunctions,
  ...indexFunctions,
  ...printFunctions,
  ...escapeFunctions,
  ...jsonFunctions,
  not: { arity: [1, 1], takes: 'any', run: ([value], budget) => !truth(value, budget) },
};
