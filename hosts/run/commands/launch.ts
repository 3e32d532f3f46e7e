import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type RunConfig,
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadRecord,
  workloadDir,
} from '@toolmgr/plugins/workloads/state';
import { startDeadlineMs } from '../proxy/start-deadline.ts';

/** Result of a detached start. */
export type Launched =
  | { readonly kind: 'running'; readonly record: WorkloadRecord }
  | { readonly kind: 'failed'; readonly reason: string };

/** A proxy process that runs on its own. */
export interface DetachedProxy {
  readonly pid: number | undefined;
  /** How it ended; `undefined` while it runs. */
  ended(): string | undefined;
}

/**
 * Starts a workload's proxy in its own process session, so that it outlives this process.
 *
 * Its command line holds only the name; secrets stay in the state folder.
 */
export function detachProxy(state: string, name: string): DetachedProxy {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../proxy/proxy-main.ts' : '../proxy/proxy-main.js', import.meta.url),
  );
  const log = openSync(join(workloadDir(state, name), WORKLOAD_FILES.proxyLog), 'a', 0o600);
  let ended: string | undefined;
  try {
    const child = spawn(process.execPath, [...SOURCE_FLAGS, main, name], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/', // a folder that is never removed or unmounted
      env: { ...process.env, TOOLMGR_STATE_DIR: state },
    });
    child.once('error', (cause) => {
      ended = cause.message;
    });
    child.once('exit', (code, signal) => {
      ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
    });
    child.unref();
    return { pid: child.pid, ended: () => ended };
  } finally {
    closeSync(log);
  }
}

/** In a checkout, the packages of this repository are TypeScript. */
const SOURCE_FLAGS = import.meta.url.endsWith('.ts') ? ['--conditions=development'] : [];

/**
 * Waits until the workload answers, its proxy ends or the time limit is reached.
 * Calls `progress` with the elapsed seconds about once a second.
 */
export async function waitUntilRunning(
  state: string,
  config: RunConfig,
  proxy: DetachedProxy,
  progress: (seconds: number) => void,
  signal: AbortSignal,
): Promise<Launched> {
  const startMs = performance.now();
  const limitMs = startDeadlineMs(config) + SPARE_MS;
  for (let reported = 0; !signal.aborted; ) {
    const ended = proxy.ended();
    const record = await readWorkload(state, config.name);
    if (record?.alive && record.status.status === 'running') return { kind: 'running', record };
    if (ended !== undefined) {
      const reason = record?.status.status === 'error' ? record.status.message : undefined;
      return { kind: 'failed', reason: reason ?? `its proxy ended during the start (${ended})` };
    }
    const passedMs = performance.now() - startMs;
    if (passedMs > limitMs)
      return { kind: 'failed', reason: `its proxy did not respond within ${Math.round(limitMs / 1000)} s` };
    if (passedMs >= (reported + 1) * 1000) progress(++reported);
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return { kind: 'failed', reason: INTERRUPTED };
}

/** Reason of a start that the user interrupted. */
export const INTERRUPTED = 'interrupted';

const POLL_MS = 40;
const SPARE_MS = 15_000; // the proxy reports its own timeout first; this catches a proxy that hangs

/** The last lines of a workload's output, or of its proxy's log if there is no output. */
export async function lastLines(state: string, name: string, lines = SHOWN_LINES): Promise<readonly string[]> {
  for (const file of [WORKLOAD_FILES.log, WORKLOAD_FILES.proxyLog]) {
    const text = await readFile(join(workloadDir(state, name), file), 'utf8').catch(() => '');
    const found = text.trimEnd().split('\n').slice(-lines);
    if (found.join('').trim() !== '') return found;
  }
  return [];
}

const SHOWN_LINES = 15;
