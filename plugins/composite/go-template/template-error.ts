/** When a template broke: while it was read, while it ran, or at one of the bounds of `limits.ts`. */
export type TemplatePhase = 'syntax' | 'execution' | 'limit';

/**
 * A template that cannot be read, or that failed on its data.
 *
 * Shape: `message` begins with `line:column: `, both counted from 1, columns in UTF-16 units; it never holds data beyond
 * the short names and types that tell what is wrong, except for what `fromJson` says about its text.
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

/** What a function says about its arguments; the evaluator adds the name of the function and the place. */
export class ArgumentError extends Error {}

/** A bound of `limits.ts` was met where the place is not known; the evaluator adds it. */
export class LimitError extends Error {}

/** Where an offset lies in a text: line and column from 1, columns in UTF-16 units. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - start + 1 };
}
