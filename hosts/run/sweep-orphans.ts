import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RUN_ID_VARIABLE } from './plan.ts';

/**
 * Ends what a killed proxy left running: every process whose environment carries the mark of that start.
 *
 * A mark is a random id, so no other process can be meant. SIGTERM first, SIGKILL after a grace time. Resolves with the
 * number of processes that were found.
 */
export async function sweepOrphans(runId: string, graceMs = GRACE_MS): Promise<number> {
  const found = await marked(runId);
  for (const pid of found) kill(pid, 'SIGTERM');
  const deadlineMs = performance.now() + graceMs;
  let left = found;
  while (left.length > 0 && performance.now() < deadlineMs) {
    await delay(POLL_MS);
    left = await marked(runId);
  }
  for (const pid of left) kill(pid, 'SIGKILL');
  return found.length;
}

/** Processes of this user that carry the mark, this one excepted. */
export async function marked(runId: string, platform = process.platform): Promise<readonly number[]> {
  const text = `${RUN_ID_VARIABLE}=${runId}`;
  const pids = platform === 'linux' ? await markedInProc(text) : await markedByPs(text);
  return pids.filter((pid) => pid !== process.pid);
}

async function markedInProc(text: string): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      // other users' processes cannot be read, and ended ones are gone: neither is ours
      const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(text) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

async function markedByPs(text: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['axeww', '-o', 'pid=,command='], { maxBuffer: PS_BYTES });
  return stdout.split('\n').flatMap((line) => (` ${line} `.includes(` ${text} `) ? [Number.parseInt(line, 10)] : []));
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended by itself
  }
}

const GRACE_MS = 2_000;
const POLL_MS = 50;
const PS_BYTES = 64 * 1024 * 1024;
