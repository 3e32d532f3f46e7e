import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printIfTestFails } from './output-of-failed.ts';
import { type RegistryAddress, withoutNpm } from './registry-server.ts';
import { sharedServer } from './shared-server.ts';

const COMMAND_MS = 180_000;
const MAX_OUTPUT = 16 * 1024 * 1024; // bytes

/** Result of a command; `out` and `err` are what it printed. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Options of a command. */
export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The registry that the files of a run share, with a cache of npm for this file: only what npm has downloaded is shared. */
export interface LocalRegistry extends RegistryAddress {
  /**
   * The environment of this process with `env`, for programs that a test starts itself. It lacks what `npm test` sets, such as the
   * cache of npm: npx would take a package from there that an earlier run has installed.
   */
  readonly processEnv: NodeJS.ProcessEnv;
  /** Runs npm (or `npx`, `node`) with `env`. A failure is in the result. */
  run(program: string, args: readonly string[], options: RunOptions): Promise<Ran>;
  /** `npm install PACKAGES` in a folder. @throws Error with the output of npm when it fails */
  install(folder: string, packages: readonly string[]): Promise<void>;
}

/** The first file of a run that asks for it starts it, which takes about 15 s after a change of the sources. */
export async function localRegistry(): Promise<LocalRegistry> {
  const address = await sharedServer<RegistryAddress>('registry');
  const cache = mkdtempSync(join(tmpdir(), 'toolmgr-npm-'));
  process.once('exit', () => rmSync(cache, { recursive: true, force: true }));
  symlinkSync(address.downloads, join(cache, '_cacache'));
  const env = { ...address.env, npm_config_cache: cache };
  const own = (program: string, args: readonly string[], options: RunOptions): Promise<Ran> =>
    run(program, args, { ...options, env: { ...env, ...options.env } });
  return {
    ...address,
    env,
    processEnv: { ...withoutNpm(process.env), ...env },
    run: own,
    install: async (folder, packages) =>
      void ended('npm install', await own('npm', ['install', ...packages], { cwd: folder })),
  };
}

function run(program: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Ran> {
  const given = Object.entries({ ...withoutNpm(process.env), ...env }).filter(([, value]) => value !== undefined);
  let ran: Ran | undefined;
  printIfTestFails([program, ...args], () => (ran === undefined ? '' : `${ran.out}${ran.err}(exit code ${ran.code})`));
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { cwd, env: Object.fromEntries(given), timeout: COMMAND_MS, maxBuffer: MAX_OUTPUT },
      (failed, out, err) => {
        const code = failed === null ? 0 : typeof failed.code === 'number' ? failed.code : -1;
        ran = { code, out, err: failed !== null && code === -1 ? `${err}${failed.message}` : err };
        resolve(ran);
      },
    );
  });
}

function ended(what: string, { code, out, err }: Ran): void {
  if (code !== 0) throw new Error(`${what} ended with ${code}\n${`${out}${err}`.slice(-4_000)}`);
}
