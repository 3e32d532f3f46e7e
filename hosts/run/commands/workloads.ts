import { stateDir } from '@toolmgr/plugins/kit/files';
import { stderr, stdout } from '../../shared/terminal.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';
import { type Selection, selectNames, unknownWorkload } from '../../workloads/planning/select.ts';
import { moveText, restartWorkload, startStored } from '../../workloads/planning/start.ts';
import { stopWorkload } from '../../workloads/planning/stop.ts';
import { forEachName } from './for-each-name.ts';
import { printFailure, withStartProgress } from './start-detached.ts';

/** `toolmgr start`: starts the stored configuration again, at the same port. A workload that runs is not changed, unless it needs a login. */
export async function start(names: readonly string[], selection: Selection): Promise<void> {
  await forChosen(names, selection, 1, (state, name) => startOne(state, name, false));
}

/** `toolmgr restart`: stops workloads that run, and starts them. */
export async function restart(names: readonly string[], selection: Selection): Promise<void> {
  await forChosen(names, selection, 1, (state, name) => startOne(state, name, true));
}

async function startOne(state: string, name: string, stopsFirst: boolean): Promise<string | undefined> {
  const outcome = await withStartProgress(name, (work) =>
    (stopsFirst ? restartWorkload : startStored)(state, name, work),
  );
  if (outcome.kind === 'gone') return unknownWorkload(state, name);
  if (outcome.kind === 'unchanged') stdout.line(`${name} already runs at ${outcome.record.status.url ?? 'its port'}`);
  else if (outcome.kind === 'running') {
    stdout.line(`${name} runs at ${outcome.record.status.url}`);
    const moved = moveText(outcome);
    if (moved !== undefined) stderr.line(`${stderr.yellow('warning')} ${name}: ${moved}`);
  } else printFailure(name, outcome);
  return undefined;
}

/** `toolmgr stop`. */
export async function stop(
  names: readonly string[],
  { timeout, ...selection }: Selection & { readonly timeout: number },
): Promise<void> {
  await forChosen(names, selection, STOPS_AT_ONCE, async (state, name) => {
    const outcome = await stopWorkload(state, name, { graceMs: timeout * 1_000 });
    if (outcome.kind === 'gone') return unknownWorkload(state, name);
    if (outcome.kind === 'left') return `${name} is stopped, but ${outcome.problem}`;
    stdout.line(outcome.kind === 'stopped' ? `${name} is stopped` : `${name} did not run`);
    return undefined;
  });
}

/** `toolmgr rm`. */
export async function remove(
  names: readonly string[],
  { force = false, ...selection }: Selection & { readonly force?: boolean },
): Promise<void> {
  await forChosen(names, selection, STOPS_AT_ONCE, async (state, name) => {
    const outcome = await removeWorkload(state, name, { force });
    if (outcome.kind === 'gone') return unknownWorkload(state, name);
    if (outcome.kind === 'refused') return outcome.problem;
    if (outcome.kind === 'left') stderr.line(`${stderr.yellow('warning')} ${outcome.problem}`);
    stdout.line(`${name} is removed`);
    return undefined;
  });
}

async function forChosen(
  names: readonly string[],
  selection: Selection,
  atOnce: number,
  act: (state: string, name: string) => Promise<string | undefined>,
): Promise<void> {
  const state = stateDir(process.env);
  await forEachName(await selectNames(state, names, selection), (name) => act(state, name), atOnce);
}

const STOPS_AT_ONCE = 8;
