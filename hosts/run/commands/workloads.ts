import { readWorkload, stateDir } from '@toolmgr/plugins/workloads/state';
import { stderr, stdout } from '../../shared/terminal.ts';
import { forEachName } from './for-each-name.ts';
import { removeWorkload } from './remove.ts';
import { type Selection, selectNames, unknownWorkload } from './select.ts';
import { printFailure, startAndReport } from './start-detached.ts';
import { stopWorkload } from './stop.ts';

/** `toolmgr start`: starts the stored configuration again, at the same port. A workload that runs is not changed, unless it needs a login. */
export async function start(names: readonly string[], selection: Selection): Promise<void> {
  const state = stateDir();
  await forEachName(await selectNames(state, names, selection), (name) => startOne(state, name, false));
}

/** `toolmgr restart`: stops workloads that run, and starts them. */
export async function restart(names: readonly string[], selection: Selection): Promise<void> {
  const state = stateDir();
  await forEachName(await selectNames(state, names, selection), (name) => startOne(state, name, true));
}

async function startOne(state: string, name: string, stopsFirst: boolean): Promise<string | undefined> {
  const record = await readWorkload(state, name);
  if (record === undefined) return unknownWorkload(state, name);
  const { config, alive, status } = record;
  if (config === undefined) return `${name}: ${status.message}`;
  const needsLogin = alive && status.status === 'unauthenticated';
  if (alive && !stopsFirst && !needsLogin && status.status !== 'starting' && status.status !== 'stopping') {
    stdout.line(`${name} already runs at ${status.url ?? 'its port'}`);
    return undefined;
  }
  if (stopsFirst || needsLogin || status.status === 'stopping') {
    const outcome = await stopWorkload(state, name);
    if (outcome.kind === 'left') return `${name}: ${outcome.problem}`;
  }
  const started = await startAndReport(state, config);
  if (started.kind === 'running') stdout.line(`${name} runs at ${started.record.status.url}`);
  else printFailure(name, started);
  return undefined;
}

/** `toolmgr stop`. */
export async function stop(
  names: readonly string[],
  { timeout, ...selection }: Selection & { readonly timeout: number },
): Promise<void> {
  const state = stateDir();
  const chosen = await selectNames(state, names, selection);
  await forEachName(
    chosen,
    async (name) => {
      const outcome = await stopWorkload(state, name, { graceMs: timeout * 1_000 });
      if (outcome.kind === 'gone') return unknownWorkload(state, name);
      if (outcome.kind === 'left') return `${name} is stopped, but ${outcome.problem}`;
      stdout.line(outcome.kind === 'stopped' ? `${name} is stopped` : `${name} did not run`);
      return undefined;
    },
    STOPS_AT_ONCE,
  );
}

/** `toolmgr rm`. */
export async function remove(
  names: readonly string[],
  { force = false, ...selection }: Selection & { readonly force?: boolean },
): Promise<void> {
  const state = stateDir();
  const chosen = await selectNames(state, names, selection);
  await forEachName(
    chosen,
    async (name) => {
      const outcome = await removeWorkload(state, name, { force });
      if (outcome.kind === 'gone') return unknownWorkload(state, name);
      if (outcome.kind === 'refused') return outcome.problem;
      if (outcome.kind === 'left') stderr.line(`${stderr.yellow('warning')} ${outcome.problem}`);
      stdout.line(`${name} is removed`);
      return undefined;
    },
    STOPS_AT_ONCE,
  );
}

const STOPS_AT_ONCE = 8;
