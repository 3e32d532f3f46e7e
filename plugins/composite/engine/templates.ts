import { type AddedRoots, isObject, type JsonObject, type JsonValue, type StepTemplate } from '@toolmgr/core';
import { compileTemplate } from './go-template/compile.ts';
import type { Reference } from './go-template/references.ts';
import { TemplateError } from './go-template/template-error.ts';
import { MAX_ARGUMENT_DEPTH, MAX_EXPANDED_BYTES } from './limits.ts';
import type { Problems } from './problem.ts';
import { StepFailure } from './step-failure.ts';

/** A template with its path and references, for {@link checkReferences}. */
export interface LocatedTemplate {
  readonly path: readonly (string | number)[];
  readonly references: readonly Reference[];
  readonly adds: AddedRoots;
}

/** Compiles templates, reports invalid ones, and collects the references of the others. */
export interface TemplateReader {
  text(text: string, path: readonly (string | number)[], adds?: AddedRoots): StepTemplate<string>;
  value<V extends JsonValue>(value: V, path: readonly (string | number)[], adds?: AddedRoots): StepTemplate<V>;
  readonly located: readonly LocatedTemplate[];
}

/** Creates a reader; texts without `{{` are returned unchanged. */
export function createTemplateReader(problems: Problems): TemplateReader {
  const located: LocatedTemplate[] = [];
  const text: TemplateReader['text'] = (source, path, adds = {}) => {
    if (!source.includes('{{')) return { render: () => source };
    try {
      const template = compileTemplate(source);
      located.push({ path, references: template.references(), adds });
      return { render: (data) => renderOrFail(() => template.render(data)) };
    } catch (cause) {
      if (!(cause instanceof TemplateError)) throw cause;
      problems.add(path, `invalid template: ${cause.message}`);
      return { render: () => '' };
    }
  };
  return {
    text,
    located,
    value: <V extends JsonValue>(value: V, path: readonly (string | number)[], adds: AddedRoots = {}) => {
      const expand = compileValue(value, path, (source, at) => text(source, at, adds), problems, 0);
      return {
        render: (data) => {
          const budget = { bytes: MAX_EXPANDED_BYTES };
          return (expand === undefined ? value : expand(data, budget)) as V;
        },
      };
    },
  };
}

interface Budget {
  bytes: number;
}

type Expand = (data: JsonObject, budget: Budget) => JsonValue;

/** A function that renders the strings of a value; `undefined` when it contains no templates. */
function compileValue(
  value: JsonValue,
  path: readonly (string | number)[],
  text: TemplateReader['text'],
  problems: Problems,
  depth: number,
): Expand | undefined {
  if (depth > MAX_ARGUMENT_DEPTH) {
    problems.add(path, `values are nested more than ${MAX_ARGUMENT_DEPTH} deep`);
    return undefined;
  }
  if (typeof value === 'string') {
    if (!value.includes('{{')) return undefined;
    const template = text(value, path);
    return (data, budget) => withinBudget(template.render(data), budget);
  }
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item, index) => ({
      item,
      expand: compileValue(item, [...path, index], text, problems, depth + 1),
    }));
    if (items.every(({ expand }) => expand === undefined)) return undefined;
    return (data, budget) => items.map(({ item, expand }) => (expand === undefined ? item : expand(data, budget)));
  }
  if (!isObject(value)) return undefined;
  const members = Object.entries(value).map(([key, item = null]) => ({
    key,
    item,
    expand: compileValue(item, [...path, key], text, problems, depth + 1),
  }));
  if (members.every(({ expand }) => expand === undefined)) return undefined;
  return (data, budget) =>
    Object.fromEntries(
      members.map(({ key, item, expand }) => [key, expand === undefined ? item : expand(data, budget)]),
    );
}

function withinBudget(text: string, budget: Budget): string {
  budget.bytes -= text.length;
  if (budget.bytes < 0) throw new StepFailure(`the expanded values are larger than ${MAX_EXPANDED_BYTES} bytes`);
  return text;
}

function renderOrFail(render: () => string): string {
  try {
    return render();
  } catch (cause) {
    if (cause instanceof TemplateError) throw new StepFailure(`template: ${cause.message}`);
    throw cause;
  }
}
