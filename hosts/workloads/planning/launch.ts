import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type RunConfig,
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadRecord,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { type FileKey, PASSWORD_VARIABLE } from '@toolmgr/plugins/secrets';
import { compileCacheDir } from '../../shared/compile-cache.ts';
import { createWake, type Wake, watchFolder } from '../../shared/wake.ts';
import { PROXY_REFUSED } from '../proxy/proxy-refused.ts';
import { startDeadlineMs } from '../proxy/start-deadline.ts';
import { passKey } from '../secrets/pass-key.ts';

/** Result of a detached start. */
export type Launched =
  /** `movedFrom`: the port of the last start, which another program has now. */
  | { readonly kind: 'running'; readonly record: WorkloadRecord; readonly movedFrom?: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** A start of a workload that was requested: its record, and the number of the start. */
export interface RequestedStart {
  readonly id: string | undefined;
  readonly generation: number;
}

/** A proxy process that runs on its own. */
export interface DetachedProxy {
  readonly pid: number | undefined;
  /** How it ended; `undefined` while it runs. */
  ended(): string | undefined;
  /** Is woken when it ends. */
  readonly wake: Wake;
}

/**
 * Starts a workload's proxy in its own process session, so that it outlives this process.
 *
 * Its command line holds only the name. With `keepsPort` it fails when another program has the port of the last start. It gets the key of the encrypted secrets through a pipe, and never their password.
 */
export function detachProxy(
  state: string,
  name: string,
  { generation }: RequestedStart,
  { key, keepsPort = false }: { readonly key?: FileKey | undefined; readonly keepsPort?: boolean | undefined },
): DetachedProxy {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../proxy/proxy-main.ts' : '../proxy/proxy-main.js', import.meta.url),
  );
  const log = openSync(join(workloadDir(state, name), WORKLOAD_FILES.proxyLog), 'a', 0o600);
  let ended: string | undefined;
  const wake = createWake();
  try {
    const child = spawn(
      process.execPath,
      [...SOURCE_FLAGS, main, name, String(generation), ...(keepsPort ? ['keeps-port'] : [])],
      {
        detached: true,
        stdio: [key === undefined ? 'ignore' : 'pipe', log, log],
        cwd: '/', // a folder that is never removed or unmounted
        // the cache saves the memory of a compiler: 30 MB for TypeScript sources
        env: {
          NODE_COMPILE_CACHE: compileCacheDir(),
          ...process.env,
          TOOLMGR_STATE_DIR: state,
          [PASSWORD_VARIABLE]: undefined,
        },
      },
    );
    child.once('error', (cause) => {
      ended = cause.message;
      wake.now();
    });
    child.once('exit', (code, signal) => {
      // the record says what happened to the start
      if (code === PROXY_REFUSED) return;
      ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
      wake.now();
    });
    if (key !== undefined && child.stdin !== null) passKey(child.stdin, key);
    child.unref();
    return { pid: child.pid, ended: () => ended, wake };
  } finally {
    closeSync(log);
  }
}

/** In a checkout, the packages of this repository are TypeScript. */
const SOURCE_FLAGS = import.meta.url.endsWith('.ts') ? ['--conditions=development'] : [];

/**
 * Waits until the workload answers, its start fails or the time limit is reached. `proxy` is that of this command; without
 * one another command makes the start. Calls `progress` with the elapsed seconds about once a second.
 */
export async function waitUntilRunning(
  state: string,
  config: RunConfig,
  start: RequestedStart & { readonly proxy?: DetachedProxy },
  progress: (seconds: number) => void,
  signal: AbortSignal,
): Promise<Launched> {
  const startMs = performance.now();
  const limitMs = startDeadlineMs(config) + SPARE_MS;
  const { wake = createWake() } = start.proxy ?? {};
  using _ = watchFolder(workloadDir(state, config.name), () => wake.now());
  for (let reported = 0; !signal.aborted; ) {
    const ended = start.proxy?.ended();
    const launched = outcomeOf(await readWorkload(state, config.name), start, ended);
    if (launched !== undefined) return launched;
    const passedMs = performance.now() - startMs;
    if (passedMs > limitMs)
      return { kind: 'failed', reason: `its proxy did not respond within ${Math.round(limitMs / 1000)} s` };
    if (passedMs >= (reported + 1) * 1000) progress(++reported);
    await wake.after(LOOK_MS, signal);
  }
  return { kind: 'failed', reason: INTERRUPTED };
}

/** How a start ended, as far as its record tells; `undefined` while it is under way. `ended`: how its proxy ended. */
function outcomeOf(
  record: WorkloadRecord | undefined,
  start: RequestedStart,
  ended: string | undefined,
): Launched | undefined {
  const failed = (reason: string): Launched => ({ kind: 'failed', reason });
  if (record === undefined || record.status.id !== start.id) return failed('it was removed while it started');
  const { status, message, generation } = record.status;
  if (record.alive && status !== 'starting' && status !== 'stopping') return { kind: 'running', record };
  // another command has stopped it, and perhaps started it again
  if (generation !== start.generation)
    return status === 'starting' ? undefined : failed('it was stopped while it started');
  if (status === 'error') return failed(message ?? 'it failed');
  if (ended !== undefined) return failed(`its proxy ended during the start (${ended})`);
  return undefined;
}

/** Reason of a start that the user interrupted. */
export const INTERRUPTED = 'interrupted';

/** A change that the file system does not report. */
const LOOK_MS = 250;
const SPARE_MS = 15_000; // the proxy reports its own timeout first; this catches a proxy that hangs
