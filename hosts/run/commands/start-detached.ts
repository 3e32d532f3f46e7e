import { GatewayFault } from '@toolmgr/core';
import {
  changeStatus,
  markProcess,
  type RunConfig,
  type Transition,
  transitions,
} from '@toolmgr/plugins/workloads/state';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { stderr } from '../../shared/terminal.ts';
import { logInFirst } from '../login/log-in-first.ts';
import { keyForStart } from '../secrets/start-secrets.ts';
import { lastLines, logEnds } from './last-lines.ts';
import { detachProxy, INTERRUPTED, type Launched, type RequestedStart, waitUntilRunning } from './launch.ts';
import { stopWorkload } from './stop.ts';

/** A started workload, or the reason why it failed with its last lines of output. */
export type Started =
  | Extract<Launched, { kind: 'running' }>
  | (Extract<Launched, { kind: 'failed' }> & { readonly lines: readonly string[] });

/**
 * Starts a stored workload detached and waits until it answers, printing the seconds. Stops it if it does not answer. When
 * another command starts it at the same time, waits for that start.
 */
export async function startAndReport(state: string, config: RunConfig): Promise<Started> {
  const stop = stopSignal();
  const { name } = config;
  const progress = (seconds: number): void => {
    if (stderr.isTty) process.stderr.write(`\r${name} is starting … ${seconds} s`);
    else if (seconds % LINE_SECONDS === 0) stderr.line(`${name} is still starting (${seconds} s)`);
  };
  try {
    await keyForStart(state, config); // a missing password is reported before anything is changed; a login may need a key later
    const from = await logEnds(state, name);
    const start = await requestStart(state, name);
    if ('refused' in start) return { kind: 'failed', reason: start.refused, lines: [] };
    const problem = start.isOurs ? await logInFirst(state, name, stop.signal) : undefined;
    if (problem !== undefined) {
      await stopWorkload(state, name, { generation: start.generation });
      return { kind: 'failed', reason: problem, lines: [] };
    }
    const proxy = start.isOurs
      ? { proxy: detachProxy(state, name, start.generation, await keyForStart(state, config)) }
      : {};
    const launched = await waitUntilRunning(state, config, { ...start, ...proxy }, progress, stop.signal);
    if (stderr.isTty) process.stderr.write(CLEAR_LINE);
    if (launched.kind === 'running') return launched;
    if (start.isOurs) await stopWorkload(state, name, { generation: start.generation });
    return { ...launched, lines: await lastLines(state, name, from, launched.reason) };
  } catch (cause) {
    if (cause instanceof GatewayFault) return { kind: 'failed', reason: cause.message, lines: [] };
    throw cause;
  } finally {
    stop.release();
  }
}

/** Makes this command the one that starts the workload, unless it runs or another command starts it. */
async function requestStart(
  state: string,
  name: string,
): Promise<(RequestedStart & { readonly isOurs: boolean }) | { readonly refused: string }> {
  const by = await markProcess(process.pid);
  let move: Transition;
  const record = await changeStatus(state, name, (now) => {
    move = transitions.requestStart(now, by);
    return move !== undefined && 'change' in move ? move.change : undefined;
  });
  if (record === undefined) return { refused: 'it was removed in the meantime' };
  if (move !== undefined && 'refused' in move) return move;
  const { id, generation = 0 } = record.status;
  return { id, generation, isOurs: move !== undefined };
}

/** Prints why a workload does not run and sets the exit code. */
export function printFailure(name: string, { reason, lines }: Extract<Started, { kind: 'failed' }>): void {
  if (reason === INTERRUPTED) {
    stderr.line(`${name} was not started`);
    process.exitCode = EXIT_CODES.interrupted.code;
    return;
  }
  stderr.line(`${stderr.red('toolmgr:')} ${name} could not be started: ${reason}`);
  for (const line of lines) stderr.line(stderr.dim(`  | ${line}`));
  process.exitCode = EXIT_CODES.failed.code;
}

const LINE_SECONDS = 10; // between progress lines when stderr is not a terminal
const CLEAR_LINE = '\r\u001b[K';
