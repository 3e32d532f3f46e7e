import type { Backend } from '../../contract/backend.ts';
import type { Environment } from '../../contract/environment.ts';
import type { Log } from '../../extension/plugin.ts';
import { ConnectionFailure } from '../failure.ts';
import { programEnvironment } from '../transports/inherited-environment.ts';
import { type EndTurn, installTurnOf } from '../transports/install-turn.ts';

/**
 * The turn of a backend that may install its program.
 * @throws ConnectionFailure BACKEND_TIMEOUT after `waitMs` · the reason of `signal`
 */
export async function backendTurnOf(
  { name, command }: Backend,
  environment: Environment,
  waitMs: number,
  log: Log,
  signal: AbortSignal,
): Promise<EndTurn | undefined> {
  return (
    command &&
    installTurnOf(command, programEnvironment(environment, command.env), {
      ...{ signal, waitMs },
      onWait: (packages) =>
        log.info('backend waits for another installation of its package', { backend: name, packages }),
      late(packages) {
        const sentence = `waited ${waitMs} ms for another installation of ${packages}`;
        return new ConnectionFailure(name, 'timeout', sentence, { notRun: true });
      },
    })
  );
}

/** A start may take this many times as long as an earlier one: processors and disks may be busier then. */
const FACTOR = 4;

/**
 * Measures how long one program takes until it answers, and says how long its next start may take.
 *
 * The first start may install the program, so its time limit is `firstStartMs`. Each session may start the program again. Such a
 * start is bounded by what earlier ones took, and programs that start at the same time slow one another.
 */
export class StartTime {
  #hasAnswered = false;
  #tookMs = 0;
  #running = 0;

  /** Whether no start has succeeded yet. */
  get isFirst(): boolean {
    return !this.#hasAnswered;
  }

  /** A start begins. */
  began(): void {
    this.#running++;
  }

  /** A start ended. `tookMs`: milliseconds until the program answered; absent when it did not. */
  ended(tookMs?: number): void {
    this.#running--;
    if (tookMs === undefined) return;
    this.#hasAnswered = true;
    // Halved, so that the time of an installation is forgotten after a few starts.
    this.#tookMs = Math.max(tookMs, this.#tookMs / 2);
  }

  /** How many milliseconds a start may take now, at most `firstStartMs`. */
  longestMs(firstStartMs: number): number {
    if (this.isFirst) return firstStartMs;
    return Math.min(firstStartMs, Math.ceil(this.#tookMs * FACTOR * Math.max(1, this.#running)));
  }
}
