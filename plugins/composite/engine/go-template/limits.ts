import { LimitError } from './template-error.ts';

/** Characters of a template's text. */
export const MAX_TEMPLATE_LENGTH = 256 * 1024;
/** Nesting depth of blocks and parentheses in a template's text. */
export const MAX_NESTING = 100;
/** Depth of template calls and blocks during rendering; ends a template that calls itself. */
export const MAX_DEPTH = 200;
/** Bytes of the rendered text (UTF-8), and of any intermediate text. Source: vmcp spec, limits of templates. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** Iterations of all loops of one rendering together. */
export const MAX_ITERATIONS = 100_000;
/** Evaluation steps of one rendering: nodes, calls, iterations; every 32 characters read or written count as one. */
export const MAX_STEPS = 1_000_000;
/** Nesting depth of a value that is printed. */
export const MAX_DATA_DEPTH = 1000;

const CHARACTERS_PER_STEP = 32;

/** The remaining budget of one rendering. */
export interface Budget {
  steps: number;
  iterations: number;
  outputBytes: number;
}

/** A full budget. */
export function createBudget(): Budget {
  return { steps: MAX_STEPS, iterations: MAX_ITERATIONS, outputBytes: MAX_OUTPUT_BYTES };
}

/** Consumes steps. @throws LimitError when none are left. */
export function spend(budget: Budget, steps = 1): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new LimitError(`more than ${MAX_STEPS} evaluation steps`);
}

/** Consumes the steps for reading or writing a number of characters. @throws LimitError */
export function spendText(budget: Budget, characters: number): void {
  expectShort(characters);
  spend(budget, Math.ceil(characters / CHARACTERS_PER_STEP));
}

/** @throws LimitError for a text above the bound of the output */
export function expectShort(characters: number): void {
  if (characters > MAX_OUTPUT_BYTES) throw new LimitError(`a text of more than ${MAX_OUTPUT_BYTES} bytes`);
}

/** Consumes one loop iteration. @throws LimitError */
export function spendTurn(budget: Budget): void {
  budget.iterations -= 1;
  if (budget.iterations < 0) throw new LimitError(`more than ${MAX_ITERATIONS} loop iterations`);
  spend(budget);
}
