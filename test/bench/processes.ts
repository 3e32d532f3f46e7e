import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';

/** A running program of the bench. */
export interface BenchProcess extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** Further words of its `listening` line. */
  readonly words: readonly string[];
  /** User and system time spent so far, in microseconds. */
  cpuMicros(): number;
  /** Resident memory in bytes. */
  residentBytes(): number;
}

/** The measured process runs alone on the first core; everything else shares the second. */
export const MEASURED_CORE = '0';
export const OTHER_CORE = cpus().length > 1 ? '1' : '0';

const START_MS = 30_000;
const TICK_MICROS = 10_000; // USER_HZ is 100 on every Linux that Node runs on

/** Starts a bench program, on one core if that is given, and waits for its `listening PORT` line. */
export async function startProcess(
  core: string | undefined,
  file: string,
  args: readonly string[],
): Promise<BenchProcess> {
  const path = resolve(import.meta.dirname, file);
  // The gateway runs from its build, like the published package; the rest runs from sources.
  const flags = file.endsWith('.mjs') ? [] : ['--conditions=development'];
  const program = [process.execPath, ...flags, path, ...args];
  const [command = '', ...rest] = core === undefined ? program : ['taskset', '-c', core, ...program];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, file);
  const [, port, ...words] = line.split(' ');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} has no pid`);
  return {
    pid,
    url: `http://127.0.0.1:${port}/mcp`,
    words,
    cpuMicros: () => cpuMicros(pid),
    residentBytes: () => residentBytes(pid),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 3_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** A process that someone else has started, put on one core. */
export function observeProcess(pid: number, url: string, core: string): Omit<BenchProcess, keyof AsyncDisposable> {
  spawnSync('taskset', ['-a', '-cp', core, String(pid)]);
  return { pid, url, words: [], cpuMicros: () => cpuMicros(pid), residentBytes: () => residentBytes(pid) };
}

/** A process that someone else has started, with its children. */
export function processTree(pid: number) {
  const pids = (): readonly number[] => [pid, ...childrenOf(pid)];
  const sum = (measure: (each: number) => number): number => pids().reduce((total, each) => total + measure(each), 0);
  return {
    /** User and system time spent so far, in microseconds. */
    cpuMicros: () => sum(cpuMicros),
    residentBytes: () => sum(residentBytes),
    signal(name: NodeJS.Signals): void {
      for (const each of pids()) process.kill(each, name);
    },
    moveTo(core: string): void {
      for (const each of pids()) spawnSync('taskset', ['-a', '-cp', core, String(each)]);
    },
  };
}

/** Time in microseconds that all processes have used of a core so far, and that the hypervisor gave to another machine. */
export function coreMicros(core: string): { readonly busy: number; readonly stolen: number } {
  const line =
    readFileSync('/proc/stat', 'utf8')
      .split('\n')
      .find((each) => each.startsWith(`cpu${core} `)) ?? '';
  const [user = 0, nice = 0, system = 0, , , , , stolen = 0] = line
    .split(' ')
    .slice(1)
    .map((ticks) => Number(ticks) * TICK_MICROS);
  return { busy: user + nice + system, stolen };
}

function childrenOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}

function firstLine(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`${name} did not start within ${START_MS} ms`)), START_MS);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it listened`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const line = text.split('\n').find((candidate) => candidate.startsWith('listening '));
      if (line === undefined || !text.includes('\n')) return;
      clearTimeout(late);
      resolve(line);
    });
  });
}

function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS; // proc(5): utime and stime
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
