import { nearest } from '@toolmgr/core';
import { readWorkload, readWorkloads, removeRecord, stateDir } from '@toolmgr/plugins/workloads/state';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { listedFrom, rowsOf } from './list.ts';
import { printFailure, startAndReport } from './start-detached.ts';
import { stopWorkload } from './stop.ts';

/** `toolmgr list`. */
export async function list({ group, format }: { group?: string; format: 'text' | 'json' }): Promise<void> {
  const records = await readWorkloads(stateDir());
  const shown = records.map(listedFrom).filter((workload) => group === undefined || workload.group === group);
  if (format === 'json') return stdout.line(JSON.stringify(shown, undefined, 2));
  if (shown.length === 0) return stderr.line('no workloads; start one: toolmgr run npx://PACKAGE');
  for (const line of columns(rowsOf(shown))) stdout.line(line);
  for (const { name, message } of shown) if (message !== undefined) stderr.line(`${name}: ${message}`);
}

/** `toolmgr start`: starts the stored configuration again, at the same port. */
export async function start(names: readonly string[]): Promise<void> {
  const state = stateDir();
  await forEach(names, async (name) => {
    const record = await readWorkload(state, name);
    if (record === undefined) return unknownWorkload(state, name);
    const { config, alive, status } = record;
    if (config === undefined) return `${name}: ${status.message}`;
    if (alive) return stdout.line(`${name} already runs at ${status.url ?? 'its port'}`);
    const started = await startAndReport(state, config);
    if (started.kind === 'running') return stdout.line(`${name} runs at ${started.record.status.url}`);
    printFailure(name, started);
  });
}

/** `toolmgr stop`. */
export async function stop(names: readonly string[]): Promise<void> {
  const state = stateDir();
  await forEach(names, async (name) => {
    const outcome = await stopWorkload(state, name);
    if (outcome === 'gone') return unknownWorkload(state, name);
    stdout.line(outcome === 'stopped' ? `${name} is stopped` : `${name} did not run`);
  });
}

/** `toolmgr rm`. */
export async function remove(names: readonly string[], { force }: { force?: boolean }): Promise<void> {
  const state = stateDir();
  await forEach(names, async (name) => {
    const record = await readWorkload(state, name);
    if (record === undefined) return unknownWorkload(state, name);
    if (record.alive && !force) return `${name} runs: stop it first (toolmgr stop ${name}), or use --force`;
    await stopWorkload(state, name);
    const outcome = await removeRecord(state, name);
    if (outcome === 'running') return `${name} was started again in the meantime`;
    stdout.line(`${name} is removed`);
  });
}

/** An error message for an unknown name, with a suggestion. */
export async function unknownWorkload(state: string, name: string): Promise<string> {
  const names = (await readWorkloads(state)).map((record) => record.name);
  const hint = nearest(name, names);
  if (hint !== undefined) return `there is no workload ${name}, did you mean ${hint}?`;
  return `there is no workload ${name} (${names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`})`;
}

/** Runs `act` for each name in order. A returned sentence is printed as a failure; the others still run. */
async function forEach(
  names: readonly string[],
  act: (name: string) => Promise<string | undefined | void>,
): Promise<void> {
  for (const name of new Set(names)) {
    const problem = await act(name);
    if (problem === undefined) continue;
    stderr.line(`${stderr.red('toolmgr:')} ${problem}`);
    process.exitCode = EXIT_CODES.failed.code;
  }
}
