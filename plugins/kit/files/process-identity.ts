import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Identity of a process, distinct from a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time from the system: opaque, equal only for the same process. */
  readonly started: string;
}

/** Identifies a running process; `undefined` when the pid does not exist or is a zombie. */
export async function markProcess(pid: number): Promise<ProcessMark | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const started = process.platform === 'linux' ? await startedOnLinux(pid) : await startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Whether exactly this process still runs, not another one with its pid. */
export async function isRunning(mark: ProcessMark): Promise<boolean> {
  const found = await markProcess(mark.pid);
  return found?.started === mark.started;
}

/** The same without waiting; for a system without `/proc` it is not known which process has the pid. */
export function isRunningNow({ pid, started }: ProcessMark): boolean {
  if (process.platform !== 'linux') return pidExists(pid);
  try {
    bootNow ??= readFileSync(BOOT_ID, 'utf8').trim();
    return startIn(readFileSync(`/proc/${pid}/stat`, 'utf8'), bootNow) === started;
  } catch {
    return false;
  }
}

let bootNow: string | undefined;

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** `{boot id}:{start in ticks since boot}`: ticks alone would repeat after a reboot. Fields as in proc(5). */
async function startedOnLinux(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), bootId()]);
    return startIn(stat, boot);
  } catch {
    return undefined;
  }
}

function startIn(stat: string, bootId: string): string | undefined {
  // the program's name is in parentheses and may contain blanks and parentheses
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return `${bootId}:${fields[START_TIME]}`;
}

const START_TIME = 18; // field 22, counted after the state, which is field 3

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

let boot: Promise<string> | undefined;

function bootId(): Promise<string> {
  boot ??= readFile(BOOT_ID, 'utf8').then((text) => text.trim());
  return boot;
}

async function startedByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      timeout: PS_TIMEOUT_MS,
      env: { LC_ALL: 'C' }, // without PATH, programs of the system are found
    });
    const [state = '', ...started] = stdout.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

const PS_TIMEOUT_MS = 5_000;
