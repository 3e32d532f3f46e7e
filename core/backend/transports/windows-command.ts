import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../../contract/environment.ts';

/** What Windows can start: programs, and scripts of its shell. */
const PROGRAMS = ['.com', '.exe'];
const SCRIPTS = ['.bat', '.cmd'];
const STARTABLE = [...PROGRAMS, ...SCRIPTS];
/** Characters that the shell reads (https://qntm.org/cmd). */
const READ_BY_SHELL = /([()\][%!^"`<>&|;, *?])/g;
/** Arguments that need no quotes, which a script might not remove. */
const PLAIN = /^[\w@:=./\\+-]+$/;

/** Starts a program without a shell. On Windows `npx` and its like are scripts, which only the shell of Windows can start. */
export function spawnProgram(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  if (process.platform !== 'win32') return spawn(file, args, options);
  const command = windowsCommand(file, args, options);
  return spawn(command.file, command.args, { ...options, windowsVerbatimArguments: command.verbatim });
}

/** What to start on Windows; `verbatim`: the arguments are quoted already. */
export interface WindowsCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly verbatim: boolean;
}

/**
 * The path of a program, or the shell with a script. The working folder is not searched, unlike by Windows itself: a project could
 * have an `npx.cmd`.
 * @throws Error `ENOENT` without such a program; for a line break in an argument of a script, where the shell would stop reading
 */
export function windowsCommand(
  file: string,
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: Pick<SpawnOptions, 'env' | 'cwd'>,
): WindowsCommand {
  const found = findProgram(file, String(cwd), variable(env, 'PATH') ?? '');
  if (found === undefined) throw Object.assign(new Error(`spawn ${file} ENOENT`), { code: 'ENOENT', path: file });
  if (PROGRAMS.includes(extname(found).toLowerCase())) return { file: found, args, verbatim: false };
  if (args.some((arg) => /[\r\n]/.test(arg))) throw new Error(`${file} is a script: its arguments have no line breaks`);
  const line = [found.replace(READ_BY_SHELL, '^$1'), ...args.map(quoted)].join(' ');
  return { file: windowsProgram('cmd.exe', env), args: ['/d', '/s', '/c', `"${line}"`], verbatim: true };
}

/** The path of a program of Windows itself. */
function windowsProgram(name: string, env: Environment): string {
  return join(variable(env, 'SYSTEMROOT') ?? 'C:\\Windows', 'System32', name);
}

/** Names of variables are the same in any case on Windows; the usual one is `Path`. */
function variable(env: Environment, wanted: string): string | undefined {
  return Object.entries(env).find(([name]) => name.toUpperCase() === wanted)?.[1];
}

function findProgram(file: string, cwd: string, path: string): string | undefined {
  const folders = path.split(';').filter((folder) => isAbsolute(folder));
  const places = /[\\/]/.test(file) ? [resolve(cwd, file)] : folders.map((folder) => join(folder, file));
  const hasEnd = STARTABLE.includes(extname(file).toLowerCase());
  // npm installs `npx` for other shells beside `npx.cmd`
  const names = places.flatMap((place) => [...(hasEnd ? [place] : []), ...STARTABLE.map((end) => `${place}${end}`)]);
  return names.find((name) => statSync(name, { throwIfNoEntry: false })?.isFile());
}

/** Quoted for the program, then escaped twice: for the shell, and for the script, which passes its arguments on (`%*`). */
function quoted(arg: string): string {
  if (PLAIN.test(arg)) return arg;
  const forProgram = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
  return forProgram.replace(READ_BY_SHELL, '^$1').replace(READ_BY_SHELL, '^$1');
}

/** Ends a process of Windows and all processes below it; `env` is that of the gateway. Windows has neither process groups nor a signal to end by. */
export function endTree(pid: number, env: Environment, otherwise: () => void): void {
  spawn(windowsProgram('taskkill.exe', env), ['/PID', String(pid), '/T', '/F'], {
    stdio: 'ignore',
    windowsHide: true,
    timeout: END_MS,
  }).once('error', otherwise);
}

const END_MS = 3_000;
