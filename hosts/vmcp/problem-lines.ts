import { explainIssues, fieldPath, nearest } from '@toolmgr/core';
import { type Document, isMap, type LineCounter, type Node } from 'yaml';
import { z } from 'zod';
import type { Problem } from './problem.ts';

/** The problems of one zod error, one per path, with messages for the user. */
export function problemsFrom(
  schema: z.ZodType,
  error: z.ZodError,
  value: unknown,
  prefix: Problem['path'] = [],
): Problem[] {
  if (!Array.isArray(error?.issues))
    return [{ path: prefix, message: afterPlace(explainIssues('', schema, error)[0] ?? '') }];
  return error.issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
    const given = valueAt(value, issue.path);
    if (issue.code === 'unrecognized_keys') {
      const sentences = explainIssues('', schema, new z.ZodError([issue]));
      return issue.keys.map((key, index) => ({ path: [...path, key], message: afterPlace(sentences[index] ?? '') }));
    }
    if (issue.code === 'invalid_type' && given === undefined) {
      return [{ path, message: `missing, expected ${article(issue.expected)}` }];
    }
    // a schema with its own message keeps it
    if (issue.code === 'invalid_type' && issue.message.startsWith(ZOD_WORDS)) {
      return [{ path, message: `expected ${article(issue.expected)}, got ${kindOf(given)}` }];
    }
    if (issue.code === 'invalid_value') return [{ path, message: unlisted(issue.values, given) }];
    return explainIssues('', schema, new z.ZodError([issue])).map((sentence) => ({
      path,
      message: afterPlace(sentence),
    }));
  });
}

/** Checks a value at path `prefix` against a schema. */
export function check(schema: z.ZodType, value: unknown, prefix: Problem['path']): Problem[] {
  const read = schema.safeParse(value);
  return read.success ? [] : problemsFrom(schema, read.error, value, prefix);
}

/** `file:line: path: message`, sorted by line. */
export function problemLines(
  file: string,
  document: Document,
  lines: LineCounter,
  problems: readonly Problem[],
): string[] {
  return problems
    .map(({ path, message }) => ({ line: lineOf(document, lines, path), place: fieldPath(path), message }))
    .sort((a, b) => a.line - b.line)
    .map(({ line, place, message }) => `${file}:${line}: ${place === '' ? '' : `${place}: `}${message}`);
}

/** The line of the key at `path`, or of its nearest existing parent. */
function lineOf(document: Document, lines: LineCounter, path: Problem['path']): number {
  let offset = 0;
  let node: unknown = document.contents;
  for (const part of path) {
    const next = stepInto(node, part);
    if (next === undefined) break;
    offset = next.offset ?? offset;
    node = next.node;
  }
  return lines.linePos(offset).line;
}

function stepInto(node: unknown, part: string | number): { node: unknown; offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => keyText(item.key) === String(part));
    return pair === undefined ? undefined : { node: pair.value, offset: (pair.key as Node | null)?.range?.[0] };
  }
  if (typeof part !== 'number' || node === null || typeof node !== 'object' || !('items' in node)) return undefined;
  const item = (node.items as unknown[])[part];
  return item === undefined ? undefined : { node: item, offset: (item as Node).range?.[0] };
}

function keyText(key: unknown): string {
  return typeof key === 'object' && key !== null && 'value' in key ? String(key.value) : String(key);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return at;
}

/** The message of explainIssues without its path, which has no space; the path is printed in the notation of the file. */
function afterPlace(sentence: string): string {
  return sentence.replace(/^\S*: /, '');
}

function unlisted(values: readonly unknown[], given: unknown): string {
  const words = values.map(String);
  const hint = typeof given === 'string' ? nearest(given, words) : undefined;
  return `expected ${words.length === 1 ? '' : 'one of '}${words.join(', ')}${hint === undefined ? '' : `, did you mean "${hint}"?`}`;
}

/** Start of zod's default messages. */
const ZOD_WORDS = 'Invalid input: expected';

/** The kind of a value. The value itself is not quoted, because it may be a secret. */
function kindOf(given: unknown): string {
  if (given === null) return 'nothing';
  if (typeof given === 'number' && !Number.isInteger(given)) return 'a fraction';
  return article(Array.isArray(given) ? 'array' : typeof given);
}

function article(kind: string): string {
  const word = WORDS[kind] ?? kind;
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

/** zod's kinds in the terms of YAML; `nonoptional` is a section that a plugin reads. */
const WORDS: Readonly<Record<string, string>> = {
  record: 'map',
  object: 'section',
  nonoptional: 'section',
  array: 'list',
  int: 'whole number',
};
