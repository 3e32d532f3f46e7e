import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cliSession } from '../../support/cli-session.ts';
import { printIfTestFails } from '../../support/output-of-failed.ts';
import { PROGRAM } from '../../support/program.ts';

/** Result of a command line. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A running command line. */
export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<Ran>;
}

/** Starts `toolmgr …` as a process with the given state folder. */
export function startToolmgr(
  state: string,
  args: readonly string[],
  cwd = '/',
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, ['--conditions=development', PROGRAM, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...ownEnvironment(state), NO_COLOR: '1', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  printIfTestFails(['toolmgr', ...args], () => `${out}${err}(exit code ${child.exitCode})`);
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err: withoutSeconds(err) }));
  return { child, out: () => out, err: () => err, ended };
}

/** Nothing of the user who runs the tests is read or changed. */
function ownEnvironment(state: string): Readonly<Record<string, string>> {
  return {
    TOOLMGR_STATE_DIR: state,
    XDG_DATA_HOME: join(state, 'data'),
    XDG_CONFIG_HOME: join(state, 'config'),
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
    TOOLMGR_RUNTIME: 'process',
  };
}

/** Runs `toolmgr …` and waits for its end. */
export function toolmgr(state: string, ...args: readonly string[]): Promise<Ran> {
  return startToolmgr(state, args).ended;
}

/**
 * Runs command lines like {@link startToolmgr}, one after another in one process for the test file, which costs a tenth. Workloads that
 * they start have processes of their own. To be called outside of a test; not for commands that are signalled or run at once.
 */
export function toolmgrSession(): (
  state: string,
  args: readonly string[],
  cwd?: string,
  env?: Readonly<Record<string, string>>,
) => Promise<Ran> {
  const run = cliSession();
  return async (state, args, cwd = '/', env = {}) => {
    const ran = await run(args, { cwd, env: { ...ownEnvironment(state), ...env } });
    return { ...ran, err: withoutSeconds(ran.err) };
  };
}

/** Without the lines that say every ten seconds that a start takes long: only a busy machine has them. */
function withoutSeconds(err: string): string {
  return err.replace(/^.* is still starting \(\d+ s\)\n/gm, '');
}
