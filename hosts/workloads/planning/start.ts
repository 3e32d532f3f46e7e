import { GatewayFault } from '@toolmgr/core';
import { markProcess } from '@toolmgr/plugins/kit/files';
import {
  changeStatus,
  type RunConfig,
  readWorkload,
  type Transition,
  transitions,
  type WorkloadRecord,
  whyNotRestarted,
} from '@toolmgr/plugins/kit/workloads';
import { logInFirst } from '../login/log-in-first.ts';
import { keyForStart } from '../secrets/start-secrets.ts';
import { lastLines, logEnds } from './last-lines.ts';
import { detachProxy, INTERRUPTED, type Launched, type RequestedStart, waitUntilRunning } from './launch.ts';
import { releaseWorkload, stopWorkload } from './stop.ts';
import type { StartWork } from './work.ts';

/** A start that failed: the reason, and the last lines of output. */
export type FailedStart = Extract<Launched, { kind: 'failed' }> & { readonly lines: readonly string[] };

/** A started workload, or why it failed. */
export type Started = Extract<Launched, { kind: 'running' }> | FailedStart;

/**
 * Starts a stored workload detached and waits until it answers. Stops it if it does not answer. When another command starts it at
 * the same time, waits for that start.
 */
export async function startWorkload(state: string, config: RunConfig, work: StartWork): Promise<Started> {
  const { name } = config;
  const { signal } = work;
  try {
    await keyForStart(state, config); // a missing password is reported before anything is changed; a login may need a key later
    const from = await logEnds(state, name);
    const start = await requestStart(state, name);
    if ('refused' in start) return failed(start.refused);
    const problem = start.isOurs && !work.supervised ? await logInFirst(state, name, work) : undefined;
    if (problem !== undefined) {
      await stopWorkload(state, name, { generation: start.generation });
      return failed(problem);
    }
    const proxy = start.isOurs
      ? {
          proxy: detachProxy(state, name, start, { key: await keyForStart(state, config), keepsPort: work.supervised }),
        }
      : {};
    work.report(`${name} starts`);
    const launched = await waitUntilRunning(
      state,
      config,
      { ...start, ...proxy },
      (seconds) => work.onSecond?.(seconds),
      signal,
    );
    if (launched.kind === 'running')
      return { ...launched, ...(config.port ? {} : movedFrom(start.port, launched.record)) };
    const isInterrupted = launched.reason === INTERRUPTED;
    if (isInterrupted && work.supervised) return { ...launched, lines: [] }; // its proxy starts it without this process
    if (start.isOurs) {
      const again = isInterrupted ? {} : { again: {} };
      await stopWorkload(state, name, { generation: start.generation, ...again });
      if (!isInterrupted) await noteFailure(state, name, launched.reason);
    }
    return { ...launched, lines: await lastLines(state, name, from, launched.reason) };
  } catch (cause) {
    if (!(cause instanceof GatewayFault)) throw cause;
    if (work.supervised) await noteFailure(state, name, cause.message);
    return failed(cause.message);
  }
}

/** Writes why a workload does not run although it should. */
export async function noteFailure(state: string, name: string, reason: string): Promise<void> {
  await changeStatus(state, name, (now) => {
    const move = transitions.failStart(now, reason);
    return move !== undefined && 'change' in move ? move.change : undefined;
  });
}

/** What a start or restart found and did. */
export type StartOutcome =
  | Started
  | { readonly kind: 'gone' }
  /** It ran already. */
  | { readonly kind: 'unchanged'; readonly record: WorkloadRecord };

/** Starts the stored configuration at the same port. A workload that runs is not changed, unless it needs a login. */
export function startStored(state: string, name: string, work: StartWork): Promise<StartOutcome> {
  return startAgain(state, name, work, false);
}

/** Stops a workload if it runs, and starts it. */
export function restartWorkload(state: string, name: string, work: StartWork): Promise<StartOutcome> {
  return startAgain(state, name, work, true);
}

async function startAgain(state: string, name: string, work: StartWork, stopsFirst: boolean): Promise<StartOutcome> {
  const record = await readWorkload(state, name);
  if (record === undefined) return { kind: 'gone' };
  const { config, alive, status } = record;
  if (config === undefined) return failed(status.message ?? 'its configuration cannot be read');
  const inForeground = whyNotRestarted(record);
  if (stopsFirst && inForeground !== undefined) return failed(inForeground);
  const needsLogin = alive && status.status === 'unauthenticated';
  if (alive && !stopsFirst && !needsLogin && status.status !== 'starting' && status.status !== 'stopping') {
    return { kind: 'unchanged', record };
  }
  const by = await markProcess(process.pid);
  try {
    if (stopsFirst || needsLogin || status.status === 'stopping') {
      if (alive) work.report(`${name} stops`);
      const outcome = await stopWorkload(state, name, { again: { by } });
      if (outcome.kind === 'left') return failed(outcome.problem);
    }
    return await startWorkload(state, config, work);
  } finally {
    await releaseWorkload(state, name, by);
  }
}

function failed(reason: string): FailedStart {
  return { kind: 'failed', reason, lines: [] };
}

/** Makes this process the one that starts the workload, unless it runs or another process starts it. */
async function requestStart(
  state: string,
  name: string,
): Promise<
  (RequestedStart & { readonly isOurs: boolean; readonly port?: number | undefined }) | { readonly refused: string }
> {
  const by = await markProcess(process.pid);
  let move: Transition;
  const record = await changeStatus(state, name, (now) => {
    move = transitions.requestStart(now, by);
    return move !== undefined && 'change' in move ? move.change : undefined;
  });
  if (record === undefined) return { refused: 'it was removed in the meantime' };
  if (move !== undefined && 'refused' in move) return move;
  const { id, generation = 0, port } = record.status;
  return { id, generation, port, isOurs: move !== undefined };
}

/** A new port after the start, which clients do not know. Pure. */
function movedFrom(before: number | undefined, { status: { port } }: WorkloadRecord) {
  return before === undefined || port === undefined || port === before ? {} : { movedFrom: before };
}

/** What users are told when a start had to take another port. */
export function moveText({ movedFrom: port, record }: Extract<Started, { kind: 'running' }>): string | undefined {
  if (port === undefined) return undefined;
  return `port ${port} of its last start is taken by another program: clients need the new address ${record.status.url}`;
}
