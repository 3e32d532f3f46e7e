import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadConfig,
  type WorkloadRecord,
  workloadDir,
} from '@toolmgr/plugins/workloads/state';
import { startDeadlineMs } from './start-deadline.ts';

/** How a detached start went. */
export type Launched =
  | { readonly kind: 'running'; readonly record: WorkloadRecord }
  | { readonly kind: 'failed'; readonly reason: string };

/** A proxy that was let go. */
export interface DetachedProxy {
  readonly pid: number | undefined;
  /** `undefined` while it runs. */
  ended(): string | undefined;
}

/**
 * Starts a workload's proxy in a session of its own, which outlives this process.
 *
 * Its command line holds the name only; what is secret stays in the state folder.
 */
export function detachProxy(state: string, name: string): DetachedProxy {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? './proxy-main.ts' : './proxy-main.js', import.meta.url),
  );
  const log = openSync(join(workloadDir(state, name), WORKLOAD_FILES.proxyLog), 'a', 0o600);
  let ended: string | undefined;
  try {
    const child = spawn(process.execPath, [...SOURCE_FLAGS, main, name], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/', // a folder that nobody removes or unmounts
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
 * Waits until the workload has answered, its proxy has ended, or its time is over.
 * `progress` is told the seconds that have passed, about once a second.
 */
export async function waitUntilRunning(
  state: string,
  config: WorkloadConfig,
  proxy: DetachedProxy,
  progress: (seconds: number) => void,
  signal: AbortSignal,
): Promise<Launched> {
  const startMs = performance.now();
  const limitMs = startDeadlineMs(config) + SPARE_MS;
  for (let told = 0; !signal.aborted; ) {
    const ended = proxy.ended();
    const record = await readWorkload(state, config.name);
    if (record?.alive && record.status.status === 'running') return { kind: 'running', record };
    if (ended !== undefined) {
      const reason = record?.status.status === 'error' ? record.status.message : undefined;
      return { kind: 'failed', reason: reason ?? `its proxy ended at once (${ended})` };
    }
    const passedMs = performance.now() - startMs;
    if (passedMs > limitMs)
      return { kind: 'failed', reason: `its proxy said nothing for ${Math.round(limitMs / 1000)} s` };
    if (passedMs >= (told + 1) * 1000) progress(++told);
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return { kind: 'failed', reason: INTERRUPTED };
}

/** The reason of a start that a person broke off. */
export const INTERRUPTED = 'interrupted';

const POLL_MS = 40;
const SPARE_MS = 15_000; // the proxy says itself that its time is over; this is for one that hangs

/** The last lines of a workload's output, of its proxy's when it printed none. */
export async function lastLines(state: string, name: string, lines = SHOWN_LINES): Promise<readonly string[]> {
  for (const file of [WORKLOAD_FILES.log, WORKLOAD_FILES.proxyLog]) {
    const text = await readFile(join(workloadDir(state, name), file), 'utf8').catch(() => '');
    const found = text.trimEnd().split('\n').slice(-lines);
    if (found.join('').trim() !== '') return found;
  }
  return [];
}

const SHOWN_LINES = 15;
