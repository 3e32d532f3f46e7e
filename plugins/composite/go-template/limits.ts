import { LimitError } from './template-error.ts';

/** Characters of a template's text. */
export const MAX_TEMPLATE_LENGTH = 256 * 1024;
/** Blocks and parentheses inside one another in a template's text. */
export const MAX_NESTING = 100;
/** Templates that call one another, and blocks entered on the way: a template that calls itself ends here. */
export const MAX_DEPTH = 200;
/** Bytes of the rendered text (UTF-8), and of any one text made on the way. Source: vmcp spec, limits of templates. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** Turns of all loops of one rendering together. */
export const MAX_ITERATIONS = 100_000;
/** Steps of one rendering: nodes, calls, turns; 32 characters read or written count as one more. */
export const MAX_STEPS = 1_000_000;
/** Values inside one another in the data, where a value is printed whole. */
export const MAX_DATA_DEPTH = 1000;

const CHARACTERS_PER_STEP = 32;

/** What one rendering may still spend. Made anew for each. */
export interface Budget {
  steps: number;
  iterations: number;
  outputBytes: number;
}

/** A full budget. */
export function createBudget(): Budget {
  return { steps: MAX_STEPS, iterations: MAX_ITERATIONS, outputBytes: MAX_OUTPUT_BYTES };
}

/** Takes steps. @throws LimitError when none are left. */
export function spend(budget: Budget, steps = 1): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new LimitError(`more than ${MAX_STEPS} evaluation steps`);
}

/** Takes the steps that reading or writing so many characters costs. @throws LimitError */
export function spendText(budget: Budget, characters: number): void {
  expectShort(characters);
  spend(budget, Math.ceil(characters / CHARACTERS_PER_STEP));
}

/** Passes texts up to the bound of the output. @throws LimitError */
export function expectShort(characters: number): void {
  if (characters > MAX_OUTPUT_BYTES) throw new LimitError(`a text of more than ${MAX_OUTPUT_BYTES} bytes`);
}

/** Takes one turn of a loop. @throws LimitError */
export function spendTurn(budget: Budget): void {
  budget.iterations -= 1;
  if (budget.iterations < 0) throw new LimitError(`more than ${MAX_ITERATIONS} loop iterations`);
  spend(budget);
}
