import { setTimeout as delay } from 'node:timers/promises';
import { explainCause, GatewayFault, LATE, within } from '@toolmgr/core';
import type { WorkloadHandle, WorkloadState } from '@toolmgr/plugins/kit/extension-points';
import { nextRestart, type Output, type RestartPolicy } from '@toolmgr/plugins/kit/workloads';
import type { Container } from 'dockerode';
import { answersHttp } from './answers-http.ts';
import { followLogs } from './follow-logs.ts';

/** A started container with an HTTP server, and how it is kept running. */
export interface KeptContainer {
  readonly name: string;
  readonly container: Container;
  /** Where the server answers. */
  readonly url: string;
  readonly output: Output;
  /** Resolves when its output has ended, which may be its end. */
  readonly followed: Promise<void>;
  readonly settings: { readonly startTimeoutMs: number; readonly restart: RestartPolicy };
  /** Resolves with the reason when the container cannot be used any more, although it runs. */
  readonly lost?: Promise<string> | undefined;
  /**
   * The container to start after this one has ended: itself, or a new one when other files are to be hidden now.
   * @throws GatewayFault WORKLOAD_FAILED when there can be none
   */
  renew(ended: Container): Promise<Container>;
  /** Removes the container and what belongs to it. */
  leave(): Promise<void>;
}

/** What the engine says about a container; `away` when no engine answers. */
type Seen =
  | { readonly is: 'running' }
  | { readonly is: 'ended'; readonly exitCode: number; readonly why: string }
  | { readonly is: 'removed' }
  | { readonly is: 'away' };

/**
 * Starts a container again when it ends, with back-off, until it is stopped, removed or given up.
 *
 * Removing the container with the engine's own command ends the workload without an error. While the engine does not answer
 * the container is left alone; the workload is `unhealthy` unless its server still answers.
 */
export function keepContainer(kept: KeptContainer): Pick<WorkloadHandle, 'state' | 'ended' | 'stop'> {
  const { name, url, output, settings } = kept;
  let { container } = kept;
  const stopping = new AbortController();
  const { signal } = stopping;
  let restarts = 0;
  let startedAtMs = Date.now();
  let state: WorkloadState = { name, status: 'running', startedAtMs, restarts };
  let lostBecause: string | undefined;
  /** Ends a pause between two looks. */
  let wake = (): void => {};
  signal.addEventListener('abort', () => wake(), { once: true });
  void kept.followed.then(() => wake());
  void kept.lost?.then((reason) => {
    lostBecause = reason;
    stopping.abort();
  });
  const ended = watch();
  return {
    get state() {
      return state;
    },
    ended,
    async stop(graceMs) {
      stopping.abort();
      await container.stop({ t: Math.ceil(graceMs / 1_000) }).catch(() => undefined); // it may have ended, or be gone
      await ended;
    },
  };

  async function watch(): Promise<WorkloadState> {
    let inARow = 0;
    for (;;) {
      const end = await whenEnded();
      if (lostBecause !== undefined) return finish({ status: 'error', message: lostBecause });
      if (signal.aborted) return finish({ status: 'stopped' });
      if (end.is === 'removed') return finish({ status: 'stopped', message: REMOVED });
      const how = `its container ended (exit code ${end.exitCode}${end.why})`;
      const next = nextRestart(settings.restart, inARow, Date.now() - startedAtMs);
      if (next === undefined) {
        const message = inARow === 0 ? how : `given up after ${inARow} restarts in a row: ${how}`;
        return finish({ status: 'error', message, exitCode: end.exitCode });
      }
      inARow = next.restarts;
      output.note(`[toolmgr] ${how}; starting it again in ${next.delayMs} ms`);
      state = { name, status: 'starting', restarts, message: `${how}; started again in ${next.delayMs / 1_000} s` };
      if (!(await isStartedMeanwhile(next.delayMs))) await startAgain();
    }
  }

  /** Waits for the end of the container. The connection to the engine may be lost any number of times. */
  async function whenEnded(): Promise<Extract<Seen, { is: 'ended' | 'removed' }>> {
    for (;;) {
      const seen = await look(container);
      if (seen.is === 'ended' || seen.is === 'removed') return seen;
      if (signal.aborted) return { is: 'removed' };
      if (seen.is === 'running') {
        setRunning();
        await outputEndOrPause();
      } else {
        const answers = await answersHttp(url, signal, async () => false);
        if (answers) setRunning();
        else setUnhealthy('the container engine does not answer');
        await delay(LOOK_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Waits for the next look: less long when the output of the container ends. Not with a request that waits (see `endOf`). */
  function outputEndOrPause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, signal.aborted ? 0 : LONGEST_WAIT_MS);
    wake = () => {
      clearTimeout(timer);
      setTimeout(resolve, ENDING_MS);
    };
    return promise;
  }

  /** Waits before a restart; true when someone else has started or removed the container. */
  async function isStartedMeanwhile(delayMs: number): Promise<boolean> {
    const untilMs = performance.now() + delayMs;
    while (!signal.aborted && performance.now() < untilMs) {
      await delay(Math.min(LOOK_MS, delayMs), undefined, { signal }).catch(() => {});
      const { is } = await look(container);
      if (is === 'running') startedAtMs = Date.now();
      if (is === 'running' || is === 'removed') return true;
    }
    return signal.aborted;
  }

  async function startAgain(): Promise<void> {
    const sinceMs = Date.now();
    try {
      container = await kept.renew(container);
    } catch (cause) {
      if (!(cause instanceof GatewayFault)) return; // the engine went away: the next look says so
      lostBecause = explainCause(cause);
      stopping.abort();
      return;
    }
    try {
      await container.start();
    } catch {
      startedAtMs = Date.now();
      return; // it was removed, it cannot be started, or the engine went away: the next look says which
    }
    restarts++;
    startedAtMs = Date.now();
    void followLogs(container, output, sinceMs).then(() => wake());
    const limit = AbortSignal.any([signal, AbortSignal.timeout(settings.startTimeoutMs)]);
    const answers = await answersHttp(url, limit, async () => (await look(container)).is === 'running');
    if (answers || signal.aborted) return;
    output.note(`[toolmgr] ${name} did not answer within ${settings.startTimeoutMs} ms`);
    await container.kill().catch(() => undefined); // it has ended meanwhile
  }

  function setRunning(): void {
    if (state.status !== 'running') state = { name, status: 'running', startedAtMs, restarts };
  }

  function setUnhealthy(message: string): void {
    if (state.status !== 'unhealthy') state = { name, status: 'unhealthy', startedAtMs, restarts, message };
  }

  async function finish(last: Pick<WorkloadState, 'status' | 'message' | 'exitCode'>): Promise<WorkloadState> {
    output.note(`[toolmgr] ${name} ${last.message ?? 'stopped'}`);
    await kept.leave().catch(() => undefined); // without an engine nothing can be removed
    state = { name, restarts, ...last };
    return state;
  }
}

async function look(container: Container): Promise<Seen> {
  try {
    const found = await within(LOOK_TIMEOUT_MS, undefined, container.inspect());
    if (found === LATE) return { is: 'away' };
    const { Running, ExitCode, OOMKilled } = found.State;
    return Running ? { is: 'running' } : { is: 'ended', exitCode: ExitCode, why: whyEnded(ExitCode, OOMKilled) };
  } catch (cause) {
    const { statusCode } = cause as { readonly statusCode?: number };
    return { is: statusCode === 404 ? 'removed' : 'away' };
  }
}

const REMOVED = 'its container was removed';

/** Podman does not always tell that the kernel killed a program for its memory. */
function whyEnded(exitCode: number, isOutOfMemory: boolean): string {
  if (isOutOfMemory) return `: ${OUT_OF_MEMORY}`;
  return exitCode === KILLED ? `: it was killed, perhaps because ${OUT_OF_MEMORY}` : '';
}

const KILLED = 137;
const OUT_OF_MEMORY = 'it needed more memory than its limit, which --memory changes';
const LOOK_MS = 1_000;
const LONGEST_WAIT_MS = 2_000;
/** The engine reports the end of a container a moment after the end of its output. */
const ENDING_MS = 50;
const LOOK_TIMEOUT_MS = 5_000;
