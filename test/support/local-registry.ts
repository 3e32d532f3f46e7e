import { execFile, fork } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import getPort from 'get-port';
import type { Tarball } from '../../scripts/pack/pack-workspaces.ts';
import { printIfTestFails } from './output-of-failed.ts';
import { packedOnce } from './packed-once.ts';

const STARTED_MS = 60_000;
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

/** An npm registry on loopback that has the three packed workspaces and passes other packages on from the configured one. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
  readonly tarballs: readonly Tarball[];
  /** Environment for npm and npx: this registry, and no setting of the user except proxies. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The environment of this process with {@link env}, for programs that a test starts itself. It lacks what `npm test` sets, such as
   * the cache of npm: npx would take a package from there that an earlier run has installed.
   */
  readonly processEnv: NodeJS.ProcessEnv;
  /** Runs npm (or `npx`, `node`) with {@link env}. A failure is in the result. */
  run(program: string, args: readonly string[], options: RunOptions): Promise<Ran>;
  /** `npm install PACKAGES` in a folder. @throws Error with the output of npm when it fails */
  install(folder: string, packages: readonly string[]): Promise<void>;
}

/**
 * Starts verdaccio of the packaging rig with the packed workspaces. The first test file after a change of the sources packs and
 * publishes them, which takes about 15 s.
 *
 * @param rig folder of the rig `packaging`
 */
export async function startLocalRegistry(rig: string): Promise<LocalRegistry> {
  const { tarballs, storage } = await packedOnce(async (packed, into) => {
    await using registry = await startEmptyRegistry(rig);
    for (const { file } of packed) {
      const args = ['publish', file, '--provenance=false'];
      ended('npm publish', await registry.run('npm', args, { cwd: dirname(file) }));
    }
    cpSync(registry.storage, into, { recursive: true });
  });
  return { ...(await startEmptyRegistry(rig, storage)), tarballs };
}

/** @param copied the storage of another registry, whose packages it has too */
async function startEmptyRegistry(
  rig: string,
  copied?: string,
): Promise<Omit<LocalRegistry, 'tarballs'> & { readonly storage: string }> {
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-registry-'));
  const storage = join(scratch, 'storage');
  if (copied !== undefined) cpSync(copied, storage, { recursive: true });
  const url = `http://127.0.0.1:${await getPort()}/`;
  try {
    const uplink = (await run('npm', ['config', 'get', 'registry'], { cwd: scratch })).out.trim();
    const server = await startVerdaccio(rig, scratch, url, uplink);
    const env = npmEnvironment(scratch, url);
    const own = (program: string, args: readonly string[], options: RunOptions): Promise<Ran> =>
      run(program, args, { ...options, env: { ...env, ...options.env } });
    return {
      url,
      env,
      processEnv: { ...withoutNpm(process.env), ...env },
      storage,
      run: own,
      install: async (folder, packages) =>
        void ended('npm install', await own('npm', ['install', ...packages], { cwd: folder })),
      [Symbol.asyncDispose]: async () => {
        await server.stop();
        rmSync(scratch, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    rmSync(scratch, { recursive: true, force: true });
    throw cause;
  }
}

/** Starts verdaccio: without accounts, everything it publishes is in `scratch`. */
async function startVerdaccio(rig: string, scratch: string, url: string, uplink: string) {
  const config = join(scratch, 'verdaccio.json');
  const access = { access: '$all', publish: '$all' };
  const settings = {
    storage: join(scratch, 'storage'),
    uplinks: { configured: { url: uplink, timeout: '60s', max_fails: 100, maxage: '1h' } },
    packages: {
      '@toolmgr/*': access,
      toolmgr: access,
      'toolmgr-plugin-*': access,
      '**': { access: '$all', proxy: 'configured' },
    },
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'warn' },
    max_body_size: '50mb',
  };
  writeFileSync(config, JSON.stringify(settings));
  const program = join(rig, 'node_modules/verdaccio/bin/verdaccio');
  const child = fork(program, ['--config', config, '--listen', url], { cwd: scratch, silent: true, execArgv: [] });
  let printed = '';
  const keep = (text: Buffer): void => {
    printed = `${printed}${text}`.slice(-4_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('it did not start in time')), STARTED_MS);
  const early = exited.then(() => Promise.reject(new Error('it ended')));
  early.catch(() => {});
  try {
    await Promise.race([new Promise((resolve) => child.once('message', resolve)), early, late]);
  } catch (cause) {
    await stop();
    throw new Error(`verdaccio: ${cause instanceof Error ? cause.message : ''}\n${printed}`);
  } finally {
    clearTimeout(timer);
  }
  return { stop };
}

/** npm asks for a token before it publishes; any text will do. The registry accepts everything on loopback. */
function npmEnvironment(scratch: string, url: string): Readonly<Record<string, string>> {
  const config = join(scratch, 'npmrc');
  writeFileSync(config, `registry=${url}\n${url.replace('http:', '')}:_authToken=none\nfund=false\naudit=false\n`);
  return {
    npm_config_userconfig: config,
    npm_config_globalconfig: join(scratch, 'no-npmrc'),
    npm_config_registry: url,
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_yes: 'true',
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

/** The environment without what `npm test` or `npm run` set for the test run itself. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name)));
}

function ended(what: string, { code, out, err }: Ran): void {
  if (code !== 0) throw new Error(`${what} ended with ${code}\n${`${out}${err}`.slice(-4_000)}`);
}
