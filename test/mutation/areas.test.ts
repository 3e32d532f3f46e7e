import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AREAS } from './areas.ts';
import { isIn, linesOfDiff } from './changed-lines.ts';
import { scoreOf, survivors } from './score.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the areas of `npm run mutation`', () => {
  const exclude = (path: string): boolean => /(?:^|\/)(?:node_modules|dist)(?:\/|$)|\.d\.ts$/.test(path);
  const sources = globSync('{core,plugins,hosts}/**/*.ts', { cwd: ROOT, exclude });

  it('have every source once', () => {
    const areasOf = (path: string) =>
      Object.entries(AREAS).flatMap(([name, { mutate }]) => (isIn(path, mutate) ? [name] : []));
    expect(sources.filter((path) => areasOf(path).length !== 1).map((path) => [path, areasOf(path)])).toEqual([]);
    expect(sources.length).toBeGreaterThan(1000);
  });

  it.each(Object.entries(AREAS))('%s has sources and tests', (_, { mutate, tests }) => {
    expect(sources.some((path) => isIn(path, mutate))).toBe(true);
    expect(globSync([...tests], { cwd: ROOT }).length).toBeGreaterThan(2);
  });
});

it('changed lines are those of the new text', () => {
  const diff = [
    '--- a/core/a.ts\n+++ b/core/a.ts\n@@ -3 +3,2 @@ function a() {\n-old\n+new\n+new\n@@ -9,2 +10,0 @@\n-gone\n-gone',
    '--- a/core/b.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone',
    '--- /dev/null\n+++ b/core/c.ts\n@@ -0,0 +1 @@\n+new\n',
  ].join('\n');
  expect(linesOfDiff(diff)).toEqual(['core/a.ts:3-4', 'core/c.ts:1-1']);
});

it('the score is the share of mutants that tests notice, and survivors are named', () => {
  const mutant = (status: string) => ({
    ...{ status, mutatorName: 'BooleanLiteral', replacement: 'false' },
    location: { start: { line: 4 } },
  });
  const states = ['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'];
  const report = { files: { 'core/a.ts': { mutants: states.map(mutant) } } };
  expect(scoreOf(report)).toEqual({
    files: 1,
    mutants: 5,
    killed: 2,
    timeout: 1,
    survived: 1,
    noCoverage: 1,
    score: 60,
  });
  expect(survivors(report)).toEqual([
    'survived: core/a.ts:4 BooleanLiteral: false',
    'not covered: core/a.ts:4 BooleanLiteral: false',
  ]);
});
