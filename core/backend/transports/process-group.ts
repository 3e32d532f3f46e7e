import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Command } from '../../contract/backend.ts';
import type { Environment } from '../../contract/environment.ts';
import type { StdioLauncher, StdioProcess } from '../../contract/stdio-launcher.ts';
import { LATE, within } from '../../timing/within.ts';
import { passwordsIn, programEnvironment } from './inherited-environment.ts';
import { Lines } from './lines.ts';
import { unwatchGroup, watchGroup } from './orphan-watch.ts';
import { endTree, spawnProgram } from './windows-command.ts';

/** Starts a program; {@link spawnProgram} unless a test or a runtime sets another. */
export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** What starts a program: a launcher of the plan, else `spawn`. */
export interface StartedBy {
  /** The environment of the gateway, a part of which every program gets. */
  readonly environment: Environment;
  readonly spawn?: Spawn | undefined;
  readonly launcher?: StdioLauncher | undefined;
  /** Gets each line of stderr, with the values of the environment masked. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** The system, which a test may set. */
  readonly platform?: NodeJS.Platform | undefined;
}

/** How the processes of a program are ended. */
type Family = 'own process' | 'process group' | 'tree of Windows';

/** Waits while stopping a program: after the end of its input, and after SIGTERM. */
const END_GRACE_MS = 1_000;
const TERM_GRACE_MS = 3_000;

const STDERR_KEPT_BYTES = 16_384;
/** A longer line of stderr is not passed on. */
const STDERR_LINE_BYTES = 16_384;
const LINE_END = Buffer.from('\n');
/** Shorter values are not masked: they would mask ordinary words. */
const MIN_SECRET_LENGTH = 6;

/** One running program with its child processes: a process group, on Windows a tree. The end of its stderr is stored. */
export class ProcessGroup {
  readonly child: StdioProcess & { readonly pid?: number | undefined };
  readonly ended: Promise<void>;
  readonly #secrets: readonly string[];
  readonly #family: Family;
  readonly #environment: Environment;
  #stderr = Buffer.alloc(0);
  #over = false;
  #stopping: Promise<void> | undefined;

  /** Exact argv, no shell; a failed start is reported by the child's `error` event. */
  constructor(
    command: Command,
    { environment, spawn = spawnProgram, launcher, onStderrLine, platform = process.platform }: StartedBy,
  ) {
    const family = platform === 'win32' ? 'tree of Windows' : 'process group';
    this.#family = launcher === undefined ? family : 'own process';
    const detached = this.#family === 'process group';
    const env = programEnvironment(environment, command.env);
    this.#environment = environment;
    const values = [...Object.values(command.env ?? {}), ...passwordsIn(env)];
    this.#secrets = values.filter(isLongEnough);
    this.child =
      launcher?.(command) ??
      spawn(command.file, command.args, {
        stdio: ['pipe', 'pipe', 'pipe'],
        detached,
        shell: false,
        windowsHide: true,
        env,
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      });
    const { pid } = this.child;
    if (detached && pid !== undefined) watchGroup(pid);
    this.child.stderr?.on('data', (chunk: Buffer) => this.#keep(chunk));
    if (onStderrLine !== undefined) this.#passLines(onStderrLine);
    this.child.stderr?.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const over = () => {
        this.#over = true;
        // The leader has ended; its remaining helpers (npx, shells) are ended with it.
        this.#signal('SIGKILL');
        if (pid !== undefined) unwatchGroup(pid);
        resolve();
      };
      this.child.once('exit', over);
      // Not `once`: a signal that cannot be sent causes an `error` too, which would be uncaught.
      this.child.on('error', () => {
        if (this.child.pid === undefined) over();
      });
    });
  }

  get running(): boolean {
    return !this.#over;
  }

  /** The end of its stderr, with the values of its environment masked. */
  lastWords(): string {
    return masked(this.#stderr.toString('utf8').trim(), this.#secrets);
  }

  /** Ends the input, then sends SIGTERM, then SIGKILL, each to the whole group; resolves when it has ended. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#over) return;
    this.child.stdin?.end();
    if (await this.#endsWithin(END_GRACE_MS)) return;
    this.#signal('SIGTERM');
    if (await this.#endsWithin(TERM_GRACE_MS)) return;
    this.#signal('SIGKILL');
    await this.#endsWithin(TERM_GRACE_MS);
  }

  async #endsWithin(ms: number): Promise<boolean> {
    return (await within(ms, undefined, this.ended)) !== LATE;
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    try {
      if (pid === undefined || this.#family === 'own process') this.child.kill(signal);
      else if (this.#family === 'process group') process.kill(-pid, signal);
      else if (!this.#over) endTree(pid, this.#environment, () => this.child.kill(signal)); // later another process may have this number
    } catch {
      // ESRCH: the group is empty
    }
  }

  #passLines(onLine: (line: string) => void): void {
    // a value of several lines, such as a key, is never in one line
    const secrets = this.#secrets.flatMap((value) => [value, ...value.split(/\r?\n/)]).filter(isLongEnough);
    const lines = new Lines(
      STDERR_LINE_BYTES,
      (line) => onLine(masked(line.toString('utf8'), secrets)),
      () => onLine(`[a line of more than ${STDERR_LINE_BYTES} bytes is left out]`),
    );
    const { stderr } = this.child;
    stderr?.on('data', (chunk: Buffer) => lines.push(chunk));
    // The last line may have no end. `end` comes before the end of the process is reported; a destroyed stream has none.
    for (const event of ['end', 'close']) stderr?.once(event, () => lines.push(LINE_END));
  }

  #keep(chunk: Buffer): void {
    const all = Buffer.concat([this.#stderr, chunk]);
    this.#stderr = all.length <= STDERR_KEPT_BYTES ? all : Buffer.from(all.subarray(all.length - STDERR_KEPT_BYTES));
  }
}

function isLongEnough(value: string): boolean {
  return value.length >= MIN_SECRET_LENGTH;
}

function masked(text: string, secrets: readonly string[]): string {
  let rest = text;
  for (const secret of secrets) rest = rest.replaceAll(secret, '[secret]');
  return rest;
}
