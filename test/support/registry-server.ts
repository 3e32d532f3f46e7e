import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Tarball } from '../../scripts/pack/pack-workspaces.ts';
import { packedOnce } from './packed-once.ts';
import { quickFolder } from './quick-folder.ts';

/** An npm registry on loopback that has the three packed workspaces and sends for other packages to the configured one. */
export interface RegistryAddress {
  readonly url: string;
  readonly tarballs: readonly Tarball[];
  /** Environment for npm and npx: this registry, and no setting of the user except proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** What npm has downloaded, for all test files. */
  readonly downloads: string;
}

/** The first start after a change of the sources packs the workspaces, which takes about 10 s. */
export async function startRegistry(): Promise<RegistryAddress & AsyncDisposable> {
  const tarballs = await packedOnce();
  const configured = (await npm(['config', 'get', 'registry'])).trim().replace(/\/*$/, '/');
  const files = new Map(tarballs.map(({ file }) => [`/-/${basename(file)}`, readFileSync(file)]));
  const documents = new Map(tarballs.map((tarball) => [tarball.name, documentOf(tarball)]));
  const server = createServer(({ url: path = '', headers }, answer) => {
    const document = documents.get(decodeURIComponent(path.slice(1)));
    const file = files.get(path);
    if (document !== undefined) {
      // npm keeps it for no other run: that may have the same port
      const type = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      answer.writeHead(200, type).end(JSON.stringify(document(`http://${headers.host}`)));
    } else if (file !== undefined) answer.end(file);
    else answer.writeHead(302, { location: `${configured}${path.slice(1)}` }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const scratch = quickFolder('registry');
  const downloads = join(scratch, 'downloads');
  mkdirSync(downloads);
  return {
    ...{ url, tarballs, downloads, env: npmEnvironment(scratch, url) },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** What a registry says of a package. */
function documentOf({ name, version, file }: Tarball): (origin: string) => object {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }));
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  return (origin) => {
    const dist = { tarball: `${origin}/-/${basename(file)}`, integrity };
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
  };
}

function npmEnvironment(scratch: string, url: string): Readonly<Record<string, string>> {
  const config = join(scratch, 'npmrc');
  writeFileSync(config, `registry=${url}\nfund=false\naudit=false\n`);
  return {
    npm_config_userconfig: config,
    npm_config_globalconfig: join(scratch, 'no-npmrc'),
    npm_config_registry: url,
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_yes: 'true',
  };
}

/** Runs npm without what `npm test` sets. @throws Error with its output */
async function npm(args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('npm', args, { env: withoutNpm(process.env) })).stdout;
}

/** An environment without what `npm test` or `npm run` set for the test run itself. */
export function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name)));
}
