/** When a template failed: in parsing, in rendering, or at a bound of `limits.ts`. */
export type TemplatePhase = 'syntax' | 'execution' | 'limit';

/**
 * A template that is invalid, or that failed on its data.
 *
 * Shape: `message` begins with `line:column: `, both counted from 1, columns in UTF-16 units; it contains names and
 * types, but no values of the data.
 */
export class TemplateError extends Error {
  readonly phase: TemplatePhase;
  readonly line: number;
  readonly column: number;

  constructor(phase: TemplatePhase, text: string, offset: number, what: string) {
    const { line, column } = placeOf(text, offset);
    super(`${line}:${column}: ${what}`);
    this.name = 'TemplateError';
    this.phase = phase;
    this.line = line;
    this.column = column;
  }
}

/** An error about arguments; the evaluator adds the name of the function and the position. */
export class ArgumentError extends Error {}

/** A bound of `limits.ts` was exceeded; the evaluator adds the position. */
export class LimitError extends Error {}

/** The position of an offset in a text: line and column from 1, columns in UTF-16 units. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - start + 1 };
}
