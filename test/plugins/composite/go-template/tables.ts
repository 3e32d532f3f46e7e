import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@toolmgr/core';
import { compileTemplate } from '../../../../plugins/composite/go-template/compile.ts';
import { TemplateError } from '../../../../plugins/composite/go-template/template-error.ts';

/** Where the tables lie, and the program that fills them. */
export const TABLES = fileURLToPath(new URL('../../../golden/go-template/', import.meta.url));

/** A template, what it runs on, and what Go makes of it. */
export interface GoldenCase {
  readonly template: string;
  readonly data: JsonValue;
  readonly numbers?: 'float64';
  readonly output?: string;
  readonly fails?: 'syntax' | 'execution';
  readonly says?: string;
  readonly error?: string;
}

/** Names of the tables, without path. */
export function tableNames(): readonly string[] {
  return readdirSync(TABLES).filter((name) => name.endsWith('.json'));
}

/** The cases of a table; those without data of their own get the table's. */
export function readTable(name: string): { readonly go: string; readonly cases: readonly GoldenCase[] } {
  const { go, data, cases } = JSON.parse(readFileSync(`${TABLES}${name}`, 'utf8')) as {
    go: string;
    data: JsonValue;
    cases: readonly GoldenCase[];
  };
  return { go, cases: cases.map((one) => ('data' in one ? one : Object.assign({ data }, one))) };
}

/** What came of a template here: its text, or when it failed and why. */
export interface Outcome {
  readonly output?: string;
  readonly fails?: string;
  readonly error?: string;
}

/** Compiles and renders; errors other than TemplateError are thrown on. */
export function outcomeOf(template: string, data: JsonValue): Outcome {
  try {
    return { output: compileTemplate(template).render(data) };
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    return { fails: cause.phase, error: cause.message };
  }
}
