// `npm run test:near [REVISION]`: types, lint, and the tests nearest to what changed since the revision (HEAD unless given, so what is
// not committed; the last commit when everything is), in about two minutes. The recorded times of docs/project/test-times.json say
// how many fit. Prints how many tests that reach the change were left to `npm test`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { nearTests, withinSeconds } from './support/near-tests.ts';
import { readTree } from './support/tree.ts';

const ROOT = join(import.meta.dirname, '..');
const BUDGET_SECONDS = 60 * availableParallelism(); // the other minute is for types, lint and starts
/** Tests of the whole tree, which every change can reach. */
const ALWAYS = ['test/architecture.test.ts', 'test/vocabulary.test.ts', 'test/coverage.test.ts'];

const [given] = process.argv.slice(2);
const changed = changedSince(given ?? 'HEAD');
const files = changed.length === 0 && given === undefined ? changedSince('HEAD~1') : changed;
const { files: recorded } = JSON.parse(readFileSync(join(ROOT, 'docs/project/test-times.json'), 'utf8')) as {
  readonly files: readonly { readonly file: string; readonly wallSeconds: number }[];
};
const seconds = new Map(recorded.map(({ file, wallSeconds }) => [file, wallSeconds]));
const near = nearTests(readTree(), files).filter(({ file }) => !ALWAYS.includes(file));
const { taken, left } = withinSeconds(near, seconds, BUDGET_SECONDS);
console.log(
  `${files.length} changed files; ${near.length} test files reach them, of which the nearest ${taken.length} run`,
);

const steps: readonly (readonly string[])[] = [
  ['tsc', '-b'],
  ['tsc', '-p', 'test/tsconfig.json'],
  ['biome', 'check', '--error-on-warnings', '.'],
  ['vitest', 'run', ...ALWAYS, ...taken],
];
for (const [program = '', ...args] of steps) {
  const { status } = spawnSync(join(ROOT, 'node_modules', '.bin', program), args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
if (left.length > 0) console.log(`left to npm test: ${left.length} test files that are further away or take longer`);

function changedSince(revision: string): readonly string[] {
  return [git('diff', '--name-only', revision), git('ls-files', '--others', '--exclude-standard')]
    .flatMap((lines) => lines.split('\n'))
    .filter((path) => path !== '');
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
