// `npm run mutation -- [AREA…] [options]`: lets Stryker change the sources of an area in a copy of the project, and says which
// changes its tests do not notice. Programs that tests start run unchanged code: only what runs in the process of a test counts.
//   --since REVISION  only lines that differ from this revision
//   --only TEXT       only files whose path contains it; --tests TEXT: only such test files
//   --record          writes the score to docs/project/mutation.json
//   --fresh           without the results of the last run, which Stryker uses for code and tests that are as they were
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingRigs } from '../../scripts/rigs/missing-rigs.ts';
import { rigFolder } from '../../scripts/rigs/rig-folder.ts';
import { AREAS, type Area, type AreaName } from './areas.ts';
import { changedLines, isIn } from './changed-lines.ts';
import { copyOfProject } from './copy-of-project.ts';
import { type Report, scoreOf, survivors } from './score.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const RECORD = join(ROOT, 'docs', 'project', 'mutation.json');
const RESULTS = join(ROOT, 'node_modules', '.cache', 'toolmgr-mutation');
const PACKAGES = join(rigFolder('mutation'), 'node_modules', '@stryker-mutator');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    since: { type: 'string' },
    only: { type: 'string' },
    tests: { type: 'string' },
    record: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(AREAS, name));
if (unknown.length > 0) {
  console.error(`unknown area ${unknown.join(', ')}, expected ${Object.keys(AREAS).join(', ')}`);
  process.exit(2);
}
const missing = missingRigs('mutation');
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const names = (positionals.length > 0 ? positionals : Object.keys(AREAS)) as readonly AreaName[];
for (const name of names) {
  const mutate = sourcesOf(AREAS[name]);
  if (mutate.length === 0) console.log(`${name}: nothing to change`);
  else if (!runArea(name, mutate)) process.exitCode = 1;
}

/** Files or lines to change. */
function sourcesOf({ mutate }: Area): readonly string[] {
  const { since, only = '' } = values;
  const all =
    since === undefined
      ? filesOf(mutate.filter((pattern) => !pattern.startsWith('!'))).filter((path) => isIn(path, mutate))
      : changedLines(ROOT, since, mutate);
  return all.filter((path) => path.includes(only));
}

function filesOf(patterns: readonly string[]): readonly string[] {
  const exclude = (path: string): boolean => /(?:^|\/)(?:node_modules|dist)(?:\/|$)|\.d\.ts$/.test(path);
  return globSync([...patterns], { cwd: ROOT, exclude }).sort();
}

/** Runs Stryker on an area in a copy; false when it does not end well. */
function runArea(name: AreaName, mutate: readonly string[]): boolean {
  const testFiles = filesOf(AREAS[name].tests).filter((path) => path.includes(values.tests ?? ''));
  const kept = join(RESULTS, `${name}.json`);
  const copy = copyOfProject();
  try {
    mkdirSync(RESULTS, { recursive: true });
    if (values.fresh) rmSync(kept, { force: true });
    const report = join(copy, 'report.json');
    writeFileSync(join(copy, 'stryker.json'), JSON.stringify(configOf({ mutate, testFiles, kept, report })));
    const args = [join(PACKAGES, 'core', 'bin', 'stryker.js'), 'run', 'stryker.json'];
    const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: 'inherit' });
    if (status !== 0 || !existsSync(report)) return false;
    say(name, JSON.parse(readFileSync(report, 'utf8')) as Report);
    return true;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

interface Run {
  readonly mutate: readonly string[];
  readonly testFiles: readonly string[];
  /** File with the results of the last run. */
  readonly kept: string;
  readonly report: string;
}

function configOf({ mutate, testFiles, kept, report }: Run): object {
  return {
    testRunner: 'vitest',
    plugins: [join(PACKAGES, 'vitest-runner', 'dist', 'src', 'index.js')],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    mutate,
    testFiles,
    inPlace: true, // the copy is ours, and a sandbox would have the packages of the workspaces unchanged
    ignorePatterns: [
      '**',
      ...mutate.map((path) => `!${path.replace(/:[\d-]+$/, '')}`),
      ...testFiles.map((path) => `!${path}`),
    ],
    tsconfigFile: 'none', // Stryker reads it with an interface that TypeScript 7 does not have
    disableTypeChecks: false,
    coverageAnalysis: 'perTest',
    ignoreStatic: true, // each would run every test
    incremental: true,
    incrementalFile: kept,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 60,
    allowConsoleColors: false,
    ...(process.env.TOOLMGR_MUTATION_WORKERS ? { concurrency: Number(process.env.TOOLMGR_MUTATION_WORKERS) } : {}),
  };
}

function say(name: AreaName, report: Report): void {
  const score = scoreOf(report);
  for (const line of survivors(report)) console.log(line);
  const { mutants, killed, timeout } = score;
  console.log(`${name}: ${killed + timeout} of ${mutants} mutants noticed (${score.score} %)`);
  if (!values.record) return;
  const before = JSON.parse(readFileSync(RECORD, 'utf8')) as { readonly areas?: object };
  const date = new Date().toISOString().slice(0, 10);
  const { since, only, tests } = values; // what was left out: undefined has no member
  const areas = { ...before.areas, [name]: { date, since, only, tests, ...score } };
  writeFileSync(RECORD, `${JSON.stringify({ ...before, areas }, undefined, 2)}\n`);
}
