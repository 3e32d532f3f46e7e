import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayFault } from '@toolmgr/core';

/** The program to start, with exact arguments and the complete environment. */
export interface ProgramStart {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly onOutput: (chunk: Buffer) => void;
}

/** How a program ended. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program and its child processes as one process group. */
export interface ProcessGroup {
  readonly pid: number;
  /** Resolves when the program has ended; its children may run until `stop`. */
  readonly ended: Promise<ProgramEnd>;
  /** Closes stdin, then sends SIGTERM, then SIGKILL to the group. Resolves when all processes have ended. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts a program in its own process group, without a shell.
 *
 * Its stdin is a pipe that stays open: many servers end when it closes.
 * @throws GatewayFault WORKLOAD_FAILED when the system cannot start it
 */
export async function startGroup(start: ProgramStart): Promise<ProcessGroup> {
  const child = spawn(start.file, [...start.args], {
    cwd: start.cwd,
    env: { ...start.env },
    detached: true, // setsid: the group id is the pid
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const life: Life = { child, over: false };
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      life.over = true;
      resolve({ code, signal });
    });
  });
  child.stdout?.on('data', start.onOutput);
  child.stderr?.on('data', start.onOutput);
  // ignores EPIPE of a program that closes its stdin early
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
  const pid = await started(child, start);
  return { pid, ended, stop: stopOnce(life, pid) };
}

function started(child: ChildProcess, { name, file }: ProgramStart): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new GatewayFault('WORKLOAD_FAILED', `workload ${name}: ${file} cannot be started`, { cause })),
    );
    child.once('spawn', () => {
      if (child.pid !== undefined) resolve(child.pid);
    });
  });
}

/** The child process, and whether it has ended. */
interface Life {
  readonly child: ChildProcess;
  over: boolean;
}

function stopOnce(life: Life, pid: number): (graceMs: number) => Promise<void> {
  let stopping: Promise<void> | undefined;
  return (graceMs) => {
    stopping ??= stopGroup(life, pid, graceMs);
    return stopping;
  };
}

async function stopGroup(life: Life, pid: number, graceMs: number): Promise<void> {
  const { child } = life;
  const stdinMs = Math.min(graceMs / 4, STDIN_GRACE_MS);
  child.stdin?.end();
  if (await groupGone(life, pid, stdinMs)) return;
  signalGroup(pid, 'SIGTERM');
  if (await groupGone(life, pid, graceMs - stdinMs)) return;
  signalGroup(pid, 'SIGKILL');
  await groupGone(life, pid, KILL_GRACE_MS);
  // pipes held open by processes outside the group must not keep this process alive
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Waits until the program and all processes of its group have ended. */
async function groupGone(life: Life, pid: number, waitMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    if (life.over && isEmpty(pid)) return true;
    if (performance.now() >= deadlineMs) return false;
    await delay(GROUP_POLL_MS);
  }
}

/** Sends a signal to a group; `false` when it is empty. Signal 0 only tests. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false; // ESRCH: empty; EPERM: on macOS a group of zombies
  }
}

function isEmpty(pid: number): boolean {
  if (!signalGroup(pid, 0)) return true;
  // zombies whose parent never reaps them (a container without init) still accept signals
  return process.platform === 'linux' && !readdirSync('/proc').some((name) => livesIn(name, pid));
}

/** Whether a process (a folder of /proc) runs and belongs to a group. Fields of proc(5): state, parent, group. */
function livesIn(process: string, group: number): boolean {
  if (!/^\d+$/.test(process)) return false;
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state !== 'Z' && state !== 'X' && Number(itsGroup) === group;
  } catch {
    return false; // ended in the meantime
  }
}

const STDIN_GRACE_MS = 500; // servers that end on a closed stdin do so quickly
const KILL_GRACE_MS = 2_000; // time to reap processes after SIGKILL
const GROUP_POLL_MS = 20;
