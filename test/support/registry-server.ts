import { execFile, fork } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import type { Tarball } from '../../scripts/pack/pack-workspaces.ts';
import { packedOnce } from './packed-once.ts';
import { quickFolder } from './quick-folder.ts';

const STARTED_MS = 60_000;
const COMMAND_MS = 180_000;
const execute = promisify(execFile);

/** An npm registry on loopback that has the three packed workspaces and passes other packages on from the configured one. */
export interface RegistryAddress {
  readonly url: string;
  readonly tarballs: readonly Tarball[];
  /** Environment for npm and npx: this registry, and no setting of the user except proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** What npm has downloaded, for all test files. */
  readonly downloads: string;
}

/**
 * Starts verdaccio of the packaging rig with the packed workspaces. The first start after a change of the sources packs and publishes
 * them, which takes about 15 s.
 *
 * @param rig folder of the rig `packaging`
 */
export async function startRegistry(rig: string): Promise<RegistryAddress & AsyncDisposable> {
  const { tarballs, storage } = await packedOnce(async (packed, into) => {
    await using registry = await startEmptyRegistry(rig);
    for (const { file } of packed)
      await npm(['publish', file, '--provenance=false'], { cwd: dirname(file), env: registry.env });
    cpSync(registry.storage, into, { recursive: true });
  });
  return { ...(await startEmptyRegistry(rig, storage)), tarballs };
}

/** @param copied the storage of another registry, whose packages it has too */
async function startEmptyRegistry(rig: string, copied?: string) {
  const scratch = quickFolder('registry');
  const [storage, downloads] = [join(scratch, 'storage'), join(scratch, 'downloads')];
  try {
    mkdirSync(downloads);
    if (copied !== undefined) cpSync(copied, storage, { recursive: true });
    const url = `http://127.0.0.1:${await getPort()}/`;
    const uplink = await npm(['config', 'get', 'registry'], { cwd: scratch });
    const stop = await startVerdaccio(rig, scratch, url, uplink.trim());
    const env = npmEnvironment(scratch, url);
    return {
      ...{ url, env, storage, downloads },
      [Symbol.asyncDispose]: async () => {
        await stop();
        rmSync(scratch, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    rmSync(scratch, { recursive: true, force: true });
    throw cause;
  }
}

/** Starts verdaccio: without accounts, everything it publishes is in `scratch`. */
async function startVerdaccio(rig: string, scratch: string, url: string, uplink: string): Promise<() => Promise<void>> {
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
  return stop;
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

/** Runs npm without the settings of the user. @throws Error with its output */
async function npm(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  return (await execute('npm', args, { cwd, env: { ...withoutNpm(process.env), ...env }, timeout: COMMAND_MS })).stdout;
}

/** An environment without what `npm test` or `npm run` set for the test run itself. */
export function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name)));
}
