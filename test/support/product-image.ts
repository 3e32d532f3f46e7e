import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withFileLock } from '../../plugins/kit/files/lock.ts';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';
import { runTool } from '../../scripts/rigs/run-tool.ts';
import {
  buildNodeRoot,
  type ContainerEngine,
  copyProgram,
  engineCall,
  engineMissing,
  importRoot,
  startEngine,
} from './container-engine.ts';
import { machineCertificates } from './package-base.ts';

/** Name of the image that {@link productImage} builds. */
export const PRODUCT_IMAGE = 'localhost/toolmgr-test/toolmgr:1';
/** Name of the image with a plugin that {@link productImage} builds. */
export const PLUGIN_IMAGE = 'localhost/toolmgr-test/masked:1';

const ROOT = join(import.meta.dirname, '../..');
const CONTEXT = ['package.json', 'package-lock.json', '.npmrc', 'LICENSE', 'tsconfig.base.json', 'tsconfig.json'];
const FOLDERS = ['core', 'plugins', 'hosts', 'scripts/image', 'scripts/page', 'Containerfile'];
const PLUGIN = { containerfile: 'examples/kubernetes/Containerfile', folder: 'examples/custom-interceptor' };
const BASE = 'localhost/toolmgr-test/node:1';
const OLD_MS = 86_400_000;
const BUILD_MS = 1_200_000;

/** Why the image cannot be built here; `undefined` when it can. Never a reason in CI. */
export function productImageMissing(): string | undefined {
  const missing = engineMissing('docker');
  if (missing !== undefined || process.env.CI) return missing;
  const absent = ['strip', 'npm', 'bash', 'git'].filter((program) => spawnSync('which', [program]).status !== 0);
  return absent.length === 0
    ? undefined
    : `no ${absent.join(', ')} on this machine (Debian: apt-get install binutils npm)`;
}

/**
 * Archive of the product's image and of {@link PLUGIN_IMAGE}, for {@link KubeNode.load}. It is built once per state of the sources, also
 * when several test files want it at the same time, and kept in the cache.
 */
export async function productImage(): Promise<string> {
  const archive = join(rigCache(), `product-image-${await hashOfSources()}.tar`);
  await mkdir(rigCache(), { recursive: true });
  const build = async (): Promise<void> => {
    if (existsSync(archive)) return;
    await using engine = await startEngine('docker');
    await buildProductImage(engine);
    await buildPluginImage(engine);
    await removeOldArchives();
    const unfinished = `${archive}.${process.pid}`;
    await saveImages(engine, [PRODUCT_IMAGE, PLUGIN_IMAGE], unfinished);
    await rename(unfinished, archive);
  };
  if (!existsSync(archive)) await withFileLock(join(rigCache(), 'product-image'), build, { waitMs: BUILD_MS });
  return archive;
}

/** Builds `examples/kubernetes/Containerfile`: the product with a plugin of an example. */
async function buildPluginImage(engine: ContainerEngine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-plugin-image-'));
  try {
    const context = join(folder, 'context');
    await cp(join(ROOT, PLUGIN.folder), context, { recursive: true });
    await cp(join(ROOT, PLUGIN.containerfile), join(context, 'Containerfile'));
    await build(engine, context, 'Containerfile', PLUGIN_IMAGE, { TOOLMGR_IMAGE: PRODUCT_IMAGE });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Builds `Containerfile` on a base that is made from this machine. @returns what the engine printed */
export async function buildProductImage(engine: ContainerEngine): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-context-'));
  try {
    const base = join(folder, 'base');
    await mkdir(join(base, 'etc/ssl'), { recursive: true });
    await writeBase(base);
    await runTool('tar', ['--owner=0', '--group=0', '-C', base, '-cf', `${base}.tar`, '.']);
    const trusted = 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/machine.pem';
    await importRoot(engine, `${base}.tar`, BASE, ['ENV PATH=/usr/bin:/bin', trusted]);
    const context = join(folder, 'context');
    for (const path of await sources()) await cp(join(ROOT, path), join(context, path));
    return await build(engine, context, 'Containerfile', PRODUCT_IMAGE, { NODE_IMAGE: BASE, VERSION: '9.9.9' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a root file system for the build stages: Node.js, npm and strip of this machine. */
async function writeBase(root: string): Promise<void> {
  await buildNodeRoot(root);
  for (const name of ['mkdir', 'rm', 'chown', 'chmod', 'uname']) await symlink('busybox', join(root, 'bin', name));
  await symlink('../../bin/busybox', join(root, 'usr/bin/env'));
  for (const name of ['strip', 'bash']) await copyProgram(await pathOf(name), root, `bin/${name}`);
  await cp(await pathOf('ldd'), join(root, 'bin/ldd'));
  const npm = dirname(dirname(await pathOf('npm')));
  await cp(npm, join(root, 'usr/lib/npm'), { recursive: true, verbatimSymlinks: true });
  await symlink('../lib/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  // the builder of the page needs it; an image of Debian has it
  const realtime = spawnSync('ldconfig', ['-p'], { encoding: 'utf8' }).stdout.match(/librt\.so\.1 .*=> (\/\S+)/)?.[1];
  if (realtime !== undefined) await cp(await realpath(realtime), join(root, dirname(realtime), 'librt.so.1'));
  await writeFile(join(root, 'etc/ssl/machine.pem'), await machineCertificates());
}

async function pathOf(program: string): Promise<string> {
  return realpath((await runTool('which', [program])).trim());
}

async function build(
  engine: ContainerEngine,
  context: string,
  file: string,
  tag: string,
  args: Readonly<Record<string, string>>,
): Promise<string> {
  const tar = `${context}.tar`;
  await runTool('tar', ['-C', context, '-cf', tar, '.']);
  const query = new URLSearchParams({ dockerfile: file, t: tag, buildargs: JSON.stringify(args), networkmode: 'host' });
  const path = `/v1.41/build?${query}`;
  const { text } = await engineCall(engine.socket, 'POST', path, readFileSync(tar), 'application/x-tar');
  const lines = text.split('\n').filter((line) => line !== '');
  const events = lines.map((line) => JSON.parse(line) as { stream?: string; error?: string });
  const printed = events.map(({ stream }) => stream ?? '').join('');
  const failed = events.find(({ error }) => error !== undefined);
  if (failed !== undefined) throw new Error(`${failed.error}\n${printed.slice(-SHOWN)}`);
  return printed;
}

const SHOWN = 4_000; // last characters of the output of a failed build

function saveImages(engine: ContainerEngine, images: readonly string[], file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/v1.41/images/get?${images.map((image) => `names=${encodeURIComponent(image)}`).join('&')}`;
    const sent = request({ socketPath: engine.socket, path, timeout: BUILD_MS }, (answer) => {
      if (answer.statusCode === 200) pipeline(answer, createWriteStream(file)).then(resolve, reject);
      else reject(new Error(`the images were not saved: ${answer.statusCode}`));
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Files of the build context: those that git knows or would add. */
async function sources(...more: readonly string[]): Promise<readonly string[]> {
  const flags = ['--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runTool('git', ['ls-files', ...flags, '--', ...CONTEXT, ...FOLDERS, ...more], { cwd: ROOT });
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(process.versions.node).update(process.arch);
  for (const path of await sources(...Object.values(PLUGIN))) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function removeOldArchives(): Promise<void> {
  for (const name of await readdir(rigCache())) {
    if (!name.startsWith('product-image-')) continue;
    const path = join(rigCache(), name);
    if (Date.now() - (await stat(path)).mtimeMs > OLD_MS) await rm(path, { force: true });
  }
}
