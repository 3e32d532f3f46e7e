import { dirname, join } from 'node:path/posix';
import { PUBLIC_ENTRIES } from './public-entries.ts';
import { importsOf, tokensOf } from './source-text.ts';

/** A test file and how many imports lie between it and the nearest changed file; 0 is changed itself. */
export interface NearTest {
  readonly file: string;
  readonly steps: number;
}

/**
 * The test files that reach a changed file, the nearest first.
 *
 * A file reaches what it imports and each file of the repository whose path is a string in it: the commands that a test starts, the
 * pages that it reads. A test also reaches the folder that its own path mirrors (`test/core/server/a.test.ts`: `core/server`).
 * `tree` has the texts of all files by path from the root.
 */
export function nearTests(tree: ReadonlyMap<string, string>, changed: readonly string[]): readonly NearTest[] {
  const users = usersOf(tree);
  const steps = new Map(changed.map((path) => [path, 0]));
  let last: readonly string[] = changed;
  for (let step = 1; last.length > 0; step++) {
    const next = last.flatMap((path) => users.get(path) ?? []).filter((path) => !steps.has(path));
    for (const path of next) steps.set(path, step);
    last = [...new Set(next)];
  }
  for (const file of tree.keys()) {
    if (isTest(file) && changed.some((path) => dirname(file) === `test/${dirname(path)}`)) {
      steps.set(file, Math.min(1, steps.get(file) ?? 1));
    }
  }
  return [...steps]
    .filter(([file]) => isTest(file) && tree.has(file))
    .map(([file, count]) => ({ file, steps: count }))
    .toSorted((a, b) => a.steps - b.steps);
}

/**
 * Takes tests in their order while the sum of their `seconds` is at most `budget`; those that do not fit are left out. Changed tests
 * (0 steps) are always taken.
 */
export function withinSeconds(
  tests: readonly NearTest[],
  seconds: ReadonlyMap<string, number>,
  budget: number,
): { readonly taken: readonly string[]; readonly left: readonly string[] } {
  const taken: string[] = [];
  const left: string[] = [];
  let sum = 0;
  for (const { file, steps } of tests) {
    const cost = seconds.get(file) ?? UNRECORDED_SECONDS;
    const isTaken = steps === 0 || sum + cost <= budget;
    if (isTaken) sum += cost;
    (isTaken ? taken : left).push(file);
  }
  return { taken, left };
}

const UNRECORDED_SECONDS = 0.5; // files of less than a second are not recorded

const isTest = (path: string): boolean => path.endsWith('.test.ts');

/** For each file of the tree the files that import it or have its path as a string. */
function usersOf(tree: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const [path, text] of tree) {
    if (!/\.(?:ts|tsx|mjs)$/.test(path)) continue;
    const tokens = tokensOf(text);
    const used = importsOf(tokens).map(({ from }) => targetOf(path, from));
    const named = tokens
      .filter(({ kind }) => kind === 'string')
      .flatMap(({ text: name }) => [name, join(dirname(path), name)]);
    for (const target of new Set([...used, ...named])) {
      if (target === path || !tree.has(target)) continue;
      const before = users.get(target);
      if (before === undefined) users.set(target, [path]);
      else before.push(path);
    }
  }
  return users;
}

function targetOf(path: string, specifier: string): string {
  return specifier.startsWith('.') ? join(dirname(path), specifier) : (PUBLIC_ENTRIES[specifier] ?? specifier);
}
