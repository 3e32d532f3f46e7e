import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@toolmgr/core';
import { compileTemplate } from '../../../../plugins/composite/engine/go-template/compile.ts';
import { TemplateError } from '../../../../plugins/composite/engine/go-template/template-error.ts';

/** The folder of the tables and of the program that fills them. */
export const TABLES = fileURLToPath(new URL('../../../golden/go-template/', import.meta.url));

/** A template, its data, and the output of Go. */
export interface GoldenCase {
  readonly template: string;
  readonly data: JsonValue;
  readonly numbers?: 'float64';
  readonly output?: string;
  readonly fails?: 'syntax' | 'execution';
  readonly says?: string;
  readonly error?: string;
}

/** File names of the tables. */
export function tableNames(): readonly string[] {
  return readdirSync(TABLES).filter((name) => name.endsWith('.json'));
}

/** The cases of a table; a case without data gets the data of the table. */
export function readTable(name: string): { readonly go: string; readonly cases: readonly GoldenCase[] } {
  const { go, data, cases } = JSON.parse(readFileSync(`${TABLES}${name}`, 'utf8')) as {
    go: string;
    data: JsonValue;
    cases: readonly GoldenCase[];
  };
  return { go, cases: cases.map((one) => ('data' in one ? one : Object.assign({ data }, one))) };
}

/** The outcome of our implementation: the text, or when and why it failed. */
export interface Outcome {
  readonly output?: string;
  readonly fails?: string;
  readonly error?: string;
}

/** Compiles and renders; rethrows errors other than TemplateError. */
export function outcomeOf(template: string, data: JsonValue): Outcome {
  try {
    return { output: compileTemplate(template).render(data) };
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    return { fails: cause.phase, error: cause.message };
  }
}
