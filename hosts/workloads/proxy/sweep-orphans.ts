import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RUN_ID_VARIABLE } from './plan.ts';

/**
 * Ends the processes that a killed proxy left: every process whose environment has the run id of that start.
 *
 * The run id is random, so no other process has it. Sends SIGTERM, then SIGKILL after a grace time. Resolves with the
 * number of processes found.
 */
export async function sweepOrphans(runId: string, graceMs = GRACE_MS): Promise<number> {
  const found = await findMarked(runId);
  for (const pid of found) kill(pid, 'SIGTERM');
  const deadlineMs = performance.now() + graceMs;
  let left = found;
  while (left.length > 0 && performance.now() < deadlineMs) {
    await delay(POLL_MS);
    left = await findMarked(runId);
  }
  for (const pid of left) kill(pid, 'SIGKILL');
  return found.length;
}

/** Processes of this user with this run id, except this process. */
export async function findMarked(runId: string, platform = process.platform): Promise<readonly number[]> {
  const text = `${RUN_ID_VARIABLE}=${runId}`;
  const pids = platform === 'linux' ? await findInProc(text) : await findByPs(text);
  return pids.filter((pid) => pid !== process.pid);
}

async function findInProc(text: string): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      // processes of other users and ended processes cannot be read, and are not ours
      const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(text) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

async function findByPs(text: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['axeww', '-o', 'pid=,command='], { maxBuffer: PS_BYTES });
  return stdout.split('\n').flatMap((line) => (` ${line} `.includes(` ${text} `) ? [Number.parseInt(line, 10)] : []));
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

const GRACE_MS = 2_000;
const POLL_MS = 50;
const PS_BYTES = 64 * 1024 * 1024;
