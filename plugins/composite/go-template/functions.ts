import { compareFunctions } from './compare.ts';
import { escapeFunctions } from './escape.ts';
import { jsonFunctions } from './go-json.ts';
import { pickFunctions } from './pick.ts';
import { printFunctions } from './print.ts';
import type { TemplateFunction } from './template-function.ts';
import { truth } from './value.ts';

/** The functions of Go's templates, and `json`, `quote`, `fromJson`; the evaluator has `and` and `or`, which may stop early. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  ...compareFunctions,
  ...pickFunctions,
  ...printFunctions,
  ...escapeFunctions,
  ...jsonFunctions,
  not: { arity: [1, 1], takes: 'any', run: ([value], budget) => !truth(value, budget) },
};
