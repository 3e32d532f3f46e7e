import type { JsonValue } from '@toolmgr/core';
import { walk } from './evaluate.ts';
import type { Run } from './evaluate-pipeline.ts';
import { FUNCTIONS } from './functions.ts';
import { createBudget, MAX_TEMPLATE_LENGTH } from './limits.ts';
import { parse } from './parse.ts';
import { type Reference, referencesOf } from './references.ts';
import { ArgumentError, LimitError, TemplateError } from './template-error.ts';
import type { TemplateFunction } from './template-function.ts';
import type { Templates } from './tree.ts';

/** A compiled template. */
export interface Template {
  /** The source text. */
  readonly text: string;
  /**
   * Renders the template with data.
   *
   * Shape: a member that is missing or nil prints `<no value>`. Only own members of the data are read, no getters.
   * Fails: TemplateError `execution` where Go fails, e.g. on a field of a nil; `limit` at a bound of `limits.ts`.
   */
  render(data: JsonValue): string;
  /** Paths of the data that rendering may read, in the order of the text; see {@link Reference}. */
  references(): readonly Reference[];
}

/** Functions in addition to Go's own and `json`, `quote`, `fromJson`. */
export interface TemplateOptions {
  readonly functions?: Readonly<Record<string, TemplateFunction>>;
}

/**
 * Compiles a template of Go's text/template.
 *
 * Shape: delimiters `{{ }}`, no options (`missingkey` is Go's default), no complex numbers. Source: docs/decisions/021.
 * Fails: TemplateError `syntax` with line, column and what was expected; `limit` for a text too long or too deep.
 */
export function compileTemplate(text: string, { functions = {} }: TemplateOptions = {}): Template {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new TemplateError('limit', text, 0, `a template of more than ${MAX_TEMPLATE_LENGTH} characters`);
  }
  const known: Readonly<Record<string, TemplateFunction>> = Object.assign(Object.create(null), FUNCTIONS, functions);
  const templates = parse(text, new Set([...Object.keys(known), 'and', 'or']));
  let references: readonly Reference[] | undefined;
  return {
    text,
    render: (data) => render(text, templates, known, data),
    references: () => {
      references ??= referencesOf(text, templates);
      return references;
    },
  };
}

function render(text: string, templates: Templates, functions: Run['functions'], data: JsonValue): string {
  const dot = data ?? undefined; // Go: nil as the root is no value; a nil inside the data is one
  const run: Run = { templates, functions, budget: createBudget(), pieces: [], depth: 0, at: 0 };
  try {
    walk(run, { dot, variables: [{ name: '$', value: dot }] }, templates.get('') ?? []);
    return run.pieces.join('');
  } catch (cause) {
    if (cause instanceof ArgumentError) throw new TemplateError('execution', text, run.at, cause.message);
    if (cause instanceof LimitError) throw new TemplateError('limit', text, run.at, cause.message);
    throw cause;
  }
}
