import type { RunConfig } from '@toolmgr/plugins/workloads/state';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { stderr } from '../../shared/terminal.ts';
import { detachProxy, INTERRUPTED, type Launched, lastLines, waitUntilRunning } from './launch.ts';
import { stopWorkload } from './stop.ts';

/** A started workload, or the reason why it failed with its last lines of output. */
export type Started =
  | Extract<Launched, { kind: 'running' }>
  | (Extract<Launched, { kind: 'failed' }> & { readonly lines: readonly string[] });

/** Starts a stored workload detached and waits until it answers, printing the seconds. Stops it if it does not answer. */
export async function startAndReport(state: string, config: RunConfig): Promise<Started> {
  const stop = stopSignal();
  const progress = (seconds: number): void => {
    if (stderr.isTty) process.stderr.write(`\r${config.name} is starting … ${seconds} s`);
    else if (seconds % LINE_SECONDS === 0) stderr.line(`${config.name} is still starting (${seconds} s)`);
  };
  try {
    const proxy = detachProxy(state, config.name);
    const launched = await waitUntilRunning(state, config, proxy, progress, stop.signal);
    if (stderr.isTty) process.stderr.write(CLEAR_LINE);
    if (launched.kind === 'running') return launched;
    await stopWorkload(state, config.name);
    return { ...launched, lines: await lastLines(state, config.name) };
  } finally {
    stop.release();
  }
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
