// `npm test`: types, lint, then all tests; prints a table of what was proven and a summary in one line at the end.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureDebianPackages } from './debian-packages.mjs';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
const env = { ...process.env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` };
env.TOOLMGR_SEED ??= String(randomInt(2 ** 31)); // a second try has the same generated inputs
const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-test-'));
const report = join(scratch, 'report.json');
const times = join(scratch, 'times.jsonl');
const secondTry = join(scratch, 'second-try.json');
const unhandled = join(scratch, 'unhandled-errors');
const isRecording = process.argv.includes('--record');
const filters = process.argv.slice(2).filter((arg) => arg !== '--record');
if (isRecording && filters.length > 0) {
  console.error('--record needs all tests: the record of some files would replace that of all');
  process.exit(2);
}

const steps = [
  { name: 'types', argv: ['tsc', '-b'] },
  { name: 'types of tests', argv: ['tsc', '-p', 'test/tsconfig.json'] },
  { name: 'lint', argv: ['biome', 'check', '--error-on-warnings', '.'] },
];

/** As many failed files are run a second time in CI. */
const MAX_SECOND_TRIES = 4;

let failed = 0;
for (const { name, argv } of steps) {
  const started = Date.now();
  const [file, ...args] = argv;
  const run = spawnSync(join(bin, file), args, { cwd: root, env, stdio: 'inherit' });
  const isGood = run.status === 0;
  if (!isGood) failed += 1;
  console.log(`${isGood ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

ensureDebianPackages();

// Only in CI, because a build takes minutes; elsewhere tests without their rig are skipped.
if (
  process.env.CI &&
  (filters.length === 0 || filters.some((filter) => /proof|operator|kubernetes|deploy/.test(filter)))
) {
  const rigs = spawnSync(join(bin, 'node'), [join(root, 'scripts', 'rigs.ts')], { cwd: root, env, stdio: 'inherit' });
  if (rigs.status !== 0) failed += 1;
  console.log(`${rigs.status === 0 ? 'ok' : 'FAILED'}: rigs`);
}

// Vitest needs the pinned Node: its reporter does not run on Node 20.
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const startedMs = Date.now();
const status = runTests(report, filters, { TOOLMGR_TEST_TIMES: times });
if (existsSync(times)) sayTimes((Date.now() - startedMs) / 60_000);

let passed = 0;
let skipped = 0;
try {
  const summary = JSON.parse(readFileSync(report, 'utf8'));
  if (process.env.CI) tryFailedFilesAgain(summary);
  const { testResults } = summary;
  const states = testResults.flatMap(({ assertionResults }) => assertionResults.map((one) => one.status));
  passed = states.filter((state) => state === 'passed').length;
  const failedTests = states.filter((state) => state === 'failed').length;
  skipped = states.length - passed - failedTests;
  failed += failedTests + testResults.filter(isBroken).length;
  const isExplained = testResults.some(({ status }) => status === 'failed') || existsSync(secondTry);
  if (existsSync(unhandled) || (status !== 0 && !isExplained)) failed += 1;
} catch (cause) {
  console.error(`no report of the test run: ${cause.message}`);
  failed += 1;
}
// The whole-gateway benchmark runs last, alone. Only with all tests, and where a process can be bound to a core.
if (filters.length === 0) {
  if (spawnSync('taskset', ['-V']).error !== undefined) {
    console.log('skipped: speed compared with an earlier revision (no taskset on this machine; Debian: util-linux)');
    skipped += 1;
  } else {
    const bench = join(root, 'test', 'bench', 'ratio.ts');
    const ratio = spawnSync(join(bin, 'node'), ['--conditions=development', bench, '--check'], {
      cwd: root,
      env,
      stdio: 'inherit',
    });
    if (ratio.status === 0) passed += 1;
    else failed += 1;
    console.log(`${ratio.status === 0 ? 'ok' : 'FAILED'}: speed compared with an earlier revision`);
  }
}
// The table of what was proven, and what to install for the rest. A requirement whose proofs were all skipped is not proven.
if (filters.length === 0 && existsSync(report)) {
  const args = ['--conditions=development', join(root, 'test', 'proven.ts'), report];
  const check = spawnSync(join(bin, 'node'), args, { cwd: root, env, stdio: 'inherit' });
  if (check.status === 0) passed += 1;
  else failed += 1;
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** Runs test files, all unless some are given, and writes a report. Returns the exit code. */
function runTests(file, given, more = {}) {
  const reporters = ['default', 'json', join(root, 'scripts', 'unhandled-errors.mjs')];
  const args = [...reporters.map((name) => `--reporter=${name}`), `--outputFile.json=${file}`, ...given];
  const runEnv = { ...env, TOOLMGR_TEST_ERRORS: unhandled, ...more };
  return spawnSync(join(bin, 'node'), [vitest, 'run', ...args], { cwd: root, env: runEnv, stdio: 'inherit' }).status;
}

/**
 * Runs the files of failed tests once more, one after the other on a quiet machine, and puts their results in place of the first.
 * Prints every test that only then passed. Many failed files are no accident of a busy machine, and are not run again.
 */
function tryFailedFilesAgain(summary) {
  const first = summary.testResults.filter(({ status }) => status === 'failed');
  if (first.length === 0 || first.length > MAX_SECOND_TRIES) return;
  console.log(`run again, alone: ${first.map(({ name }) => relative(root, name)).join(', ')}`);
  runTests(secondTry, ['--no-file-parallelism', ...first.map(({ name }) => name)]);
  const second = new Map(JSON.parse(readFileSync(secondTry, 'utf8')).testResults.map((one) => [one.name, one]));
  summary.testResults = summary.testResults.map((one) => second.get(one.name) ?? one);
  writeFileSync(report, JSON.stringify(summary));
  for (const { name, assertionResults } of first) {
    if (second.get(name)?.status !== 'passed') continue;
    const titles = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    console.log(`passed only at the second try: ${relative(root, name)}: ${titles.join('; ') || 'its set-up'}`);
  }
}

/** Whether a file failed outside its tests, e.g. in its set-up. */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && assertionResults.every((one) => one.status !== 'failed');
}

/** Prints the slowest files; with `--record` writes those that take a second or more to docs/project/test-times.json. */
function sayTimes(minutes) {
  const measured = readFileSync(times, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .toSorted((a, b) => b.wallSeconds - a.wallSeconds);
  const cpuMinutes = measured.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / 60;
  console.log(`slowest files (seconds, CPU seconds); all files used ${cpuMinutes.toFixed(1)} minutes of CPU time:`);
  for (const { file, wallSeconds, cpuSeconds } of measured.slice(0, 20)) {
    console.log(`  ${wallSeconds.toFixed(1).padStart(6)} ${cpuSeconds.toFixed(1).padStart(6)}  ${file}`);
  }
  if (!isRecording) return;
  const files = measured
    .filter(({ wallSeconds }) => wallSeconds >= 1)
    .map(({ file, wallSeconds, cpuSeconds }) => ({
      file,
      wallSeconds: rounded(wallSeconds),
      cpuSeconds: rounded(cpuSeconds),
    }));
  const record = {
    date: new Date().toISOString(),
    cores: availableParallelism(),
    minutes: rounded(minutes),
    cpuMinutes: rounded(cpuMinutes),
    files,
  };
  writeFileSync(join(root, 'docs', 'project', 'test-times.json'), `${JSON.stringify(record, undefined, 2)}\n`);
}

function rounded(value) {
  return Number(value.toFixed(1));
}
