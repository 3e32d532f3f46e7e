// Changes one source line at a time in a copy of the project and runs the proofs of the line's requirement, which must fail.
// Prints surviving mutations; exit code 1 when there are any.
// Flags: --only TEXT,… takes the mutations whose id or file contains one of the texts; --record writes docs/project/mutation.json.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { requirements } from '../requirements.ts';
import { citationsOf } from '../support/coverage.ts';
import { readTree } from '../support/tree.ts';
import { copyOfProject } from './copy-of-project.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';

type Outcome = 'killed' | 'survived' | 'broken';

const ROOT = join(import.meta.dirname, '..', '..');
const RECORD = join(ROOT, 'docs', 'project', 'mutation.json');
const RUN_MS = 180_000; // time limit for the proofs of one id, also for mutations that make them hang
const COPIES = Math.max(1, Math.min(4, availableParallelism()));

const only = argumentAfter('--only')?.split(',');
const chosen = mutations.filter(
  ({ id, file }) => only?.some((text) => id.includes(text) || file.includes(text)) ?? true,
);
const citing = filesByRequirement();
const waiting = [...chosen];
const outcomes = new Map<Mutation, Outcome>();
/** Results of the proofs with unchanged sources, by id. */
const unchanged = new Map<string, ReturnType<typeof resultOf>>();
await Promise.all(Array.from({ length: Math.min(COPIES, chosen.length) }, worker));
report();

/** Tests mutations in its own copy until none is left. */
async function worker(): Promise<void> {
  const copy = copyOfProject();
  try {
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const outcome = await outcomeOf(mutation, copy);
      outcomes.set(mutation, outcome);
      console.log(`${outcome}: ${mutation.id} (${mutation.file}: ${mutation.from} -> ${mutation.to})`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Runs the proofs of an id: they must pass unchanged (run once per id) and fail with the mutation. */
async function outcomeOf({ id, file, from, to }: Mutation, copy: string): Promise<Outcome> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  const before = unchanged.get(id) ?? resultOf(id, copy);
  unchanged.set(id, before);
  if ((await before) !== 'passed') return 'broken';
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    return (await resultOf(id, copy, ['--bail=1'])) === 'failed' ? 'killed' : 'survived';
  } finally {
    writeFileSync(path, text);
  }
}

/** Runs the proofs of an id in a copy; `nothing` when no test ran. */
async function resultOf(
  id: string,
  copy: string,
  more: readonly string[] = [],
): Promise<'passed' | 'failed' | 'nothing'> {
  const titled = `[\\[ ]${id.replaceAll('.', '\\.')}[\\],]`;
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const args = [
    vitest,
    'run',
    '--reporter=json',
    `--outputFile=${report}`,
    ...more,
    ...(citing.get(id) ?? []),
    '-t',
    titled,
  ];
  // a separate process group, so that processes of a hanging test end too
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', detached: true });
  const timer = setTimeout(() => killGroup(child.pid), RUN_MS);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => clearTimeout(timer));
  if (code !== 0 || !existsSync(report)) return 'failed';
  const { numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number };
  return numPassedTests > 0 ? 'passed' : 'nothing';
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

function filesByRequirement(): ReadonlyMap<string, readonly string[]> {
  const known = new Set(requirements.map(({ id }) => id));
  const files = new Map<string, string[]>();
  for (const [path, text] of readTree()) {
    if (!path.startsWith('test/') || !path.endsWith('.test.ts')) continue;
    for (const { id } of citationsOf(path, text, known)) files.set(id, [...(files.get(id) ?? []), path]);
  }
  return files;
}

function report(): void {
  const named = (outcome: Outcome) => chosen.filter((mutation) => outcomes.get(mutation) === outcome);
  const [killed, survived, broken] = [named('killed'), named('survived'), named('broken')];
  for (const { id } of broken) console.error(`the proofs of ${id} fail or are skipped without any change`);
  for (const { id, file, from, to } of survived) console.error(`survived: ${id}: ${file}: ${from} -> ${to}`);
  console.log(`mutations: ${killed.length} of ${chosen.length} killed by the proofs of their requirement`);
  if (process.argv.includes('--record')) {
    const date = new Date().toISOString().slice(0, 10);
    const ids = (list: readonly Mutation[]) => list.map(({ id }) => id);
    const before = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {};
    const table = {
      date,
      mutations: chosen.length,
      killed: killed.length,
      survived: ids(survived),
      broken: ids(broken),
    };
    writeFileSync(RECORD, `${JSON.stringify({ ...before, date, table }, undefined, 2)}\n`);
  }
  if (killed.length < chosen.length) process.exitCode = 1;
}

function argumentAfter(flag: string): string | undefined {
  const at = process.argv.indexOf(flag);
  return at < 0 ? undefined : process.argv[at + 1];
}
