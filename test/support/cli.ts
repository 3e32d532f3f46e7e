import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printIfTestFails } from './output-of-failed.ts';
import { PROGRAM } from './program.ts';
import { until } from './until.ts';

const STARTED_MS = 60_000;

/** Result of a command line. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A running command line. */
export interface RunningCli extends AsyncDisposable {
  readonly pid: number;
  out(): string;
  err(): string;
  /** Waits for a match on either stream; fails with the whole output. */
  printed(pattern: RegExp, ms?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  readonly finished: Promise<Finished>;
}

/** Options of the process. */
export interface CliOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Text on stdin; without it stdin is empty. */
  readonly input?: string;
  /** Leaves stdin open, for `--stdio`. */
  readonly keepsInput?: boolean;
  /** Another script instead of the command line. */
  readonly script?: string;
  /** Another Node, without the condition that selects the sources; only for an installed script. */
  readonly node?: string;
}

/** Nothing is written into the state folder of the user who runs the tests. */
export function stateFolder(env: CliOptions['env'] = {}): { readonly TOOLMGR_STATE_DIR?: string } {
  if (['HOME', 'XDG_STATE_HOME', 'TOOLMGR_STATE_DIR'].some((name) => env[name] !== undefined)) return {};
  if (!isStateRemoved) process.once('exit', () => rmSync(STATE, { recursive: true, force: true }));
  isStateRemoved = true;
  return { TOOLMGR_STATE_DIR: STATE };
}

const STATE = join(tmpdir(), `toolmgr-test-state-${process.pid}`);
let isStateRemoved = false;

/** Starts `toolmgr …` as a process. Disposing stops it, then kills it. */
export function startCli(
  args: readonly string[],
  { env, cwd, input, keepsInput, script = PROGRAM, node }: CliOptions = {},
): RunningCli {
  const flags = node === undefined ? ['--conditions=development'] : [];
  const child = spawn(node ?? process.execPath, [...flags, script, ...args], {
    cwd: cwd ?? join(import.meta.dirname, '../..'),
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', TOOLMGR_URL: undefined, PORT: undefined, ...stateFolder(env), ...env },
  });
  child.stdin.on('error', () => {}); // it may end without reading
  if (keepsInput !== true) child.stdin.end(input ?? '');
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  let isOver = false;
  printIfTestFails(['toolmgr', ...args], () => `${out}${err}${isOver ? `(exit code ${child.exitCode})` : '(it runs)'}`);
  const finished = once(child, 'close').then(([code]) => {
    isOver = true;
    return { code: code as number | null, out, err };
  });
  return {
    pid: child.pid ?? 0,
    out: () => out,
    err: () => err,
    async printed(pattern, ms = STARTED_MS) {
      const look = (): RegExpExecArray | null => pattern.exec(err) ?? pattern.exec(out);
      await until(() => look() !== null || isOver, ms).catch(() => {});
      const found = look();
      if (found === null) throw new Error(`never printed ${pattern}:\n--- out\n${out}\n--- err\n${err}`);
      return found;
    },
    signal: (name) => void child.kill(name),
    finished,
    async [Symbol.asyncDispose]() {
      if (isOver) return;
      child.kill('SIGTERM');
      const cut = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await finished;
      clearTimeout(cut);
    },
  };
}

/** Runs `toolmgr …` and waits for its end. */
export function cli(args: readonly string[], options?: CliOptions): Promise<Finished> {
  return startCli(args, options).finished;
}
