import type { Backend } from '../../contract/backend.ts';
import type { Log } from '../../extension/plugin.ts';
import { LATE, within } from '../../timing/within.ts';
import { ConnectionFailure } from '../failure.ts';
import { programEnvironment } from '../transports/inherited-environment.ts';
import { type EndTurn, takeInstallTurn } from '../transports/install-turn.ts';
import { packageRunOf } from '../transports/package-runner.ts';

/**
 * Waits while other processes install the same packages into the same cache; `undefined` at once for a program that
 * installs nothing.
 * @throws ConnectionFailure BACKEND_TIMEOUT after `waitMs` · the reason of `signal`
 */
export async function installTurnOf(
  { name, command }: Backend,
  waitMs: number,
  log: Log,
  signal: AbortSignal,
): Promise<EndTurn | undefined> {
  const run = command && packageRunOf(command, programEnvironment(command.env));
  if (run === undefined) return undefined;
  const packages = run.packages.join(', ');
  const onWait = (): void =>
    log.info('backend waits for another installation of its package', { backend: name, packages });
  const endTurn = await takeInstallTurn(run, { signal, waitMs, onWait });
  if (endTurn !== undefined) return endTurn;
  const sentence = `waited ${waitMs} ms for another installation of ${packages}`;
  throw new ConnectionFailure('BACKEND_TIMEOUT', name, sentence, { category: 'timeout', notRun: true });
}

/**
 * Waits for a short time for the first start of a program.
 * @throws ConnectionFailure BACKEND_STARTING with the seconds so far, `waitMs` after it began
 */
export async function waitForFirstStart(
  start: Promise<void>,
  backend: string,
  { startedMs, nowMs, waitMs, firstStartMs }: StartTimes,
): Promise<void> {
  const late = (): ConnectionFailure => {
    const seconds = Math.floor((performance.now() - beganMs + nowMs - startedMs) / 1000);
    const most = Math.round(firstStartMs / 1000);
    const sentence = `is still starting, ${seconds} s so far; its first start may take ${most} s; retry later`;
    return new ConnectionFailure('BACKEND_STARTING', backend, sentence, { category: 'starting', notRun: true });
  };
  const beganMs = performance.now();
  const leftMs = startedMs + waitMs - nowMs;
  if (leftMs <= 0) throw late();
  if ((await within(leftMs, undefined, start)) === LATE) throw late();
}

/** Epoch milliseconds of a start and of now; wait time and time limit of the start. */
export interface StartTimes {
  readonly startedMs: number;
  readonly nowMs: number;
  readonly waitMs: number;
  readonly firstStartMs: number;
}
