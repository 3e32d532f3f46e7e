import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { build } from 'rolldown';
import { withFileLock } from '../../plugins/kit/files/lock.ts';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';
import { keepImages, shareImages } from './docker-store.ts';
import { addDefaultGateway, createBridge, type EngineBridge } from './engine-bridge.ts';
import { importIntoPodmanStore, podmanStore } from './podman-store.ts';
import { until } from './until.ts';

/** The engines that tests start. */
export const ENGINES = ['docker', 'podman'] as const;
export type EngineName = (typeof ENGINES)[number];

const PROGRAMS = { docker: ['dockerd', 'iptables', 'runc', 'ip'], podman: ['podman', 'runc', 'conmon'] } as const;
const READY_MS = 60_000;

/**
 * Why tests with a real container engine cannot run here; `undefined` when they can. Never a reason in CI: there they
 * fail instead. `npm test` installs Debian's packages where it may.
 */
export function engineMissing(engine: EngineName): string | undefined {
  if (process.env.CI) return undefined;
  if (process.getuid?.() !== 0) return `a ${engine} engine of the tests needs root`;
  const missing = PROGRAMS[engine].filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length > 0) return `no ${missing.join(', ')} on this machine (Debian: apt-get install docker.io podman)`;
  return mayMount() ? undefined : 'this machine forbids containers (no mount in a new namespace)';
}

/** A container engine of a test, in a folder of its own: `await using engine = await startEngine('docker')`. */
export interface ContainerEngine extends AsyncDisposable {
  readonly name: EngineName;
  /** Path of the unix socket of its API. */
  readonly socket: string;
  /** Processor time that the engine's own process has used, in milliseconds. */
  cpuMs(): number;
  /** Ends the engine at once. Containers live on; those of Docker end when it is started again (no `live-restore`). */
  kill(): Promise<void>;
  /** Starts it again over the same folder. */
  restart(): Promise<void>;
  /** Keys of the images that it has had since its start. */
  readonly imported: readonly string[];
}

/** Starts an engine that shares nothing with one that the machine runs. `data`: the data folder of a Docker engine instead of a new one. */
export async function startEngine(
  name: EngineName,
  { insecureRegistry, data }: { readonly insecureRegistry?: string; readonly data?: string } = {},
): Promise<ContainerEngine> {
  const folder = await mkdtemp(join(tmpdir(), `toolmgr-${name}-`));
  const socket = join(folder, 'engine.sock');
  const root = data ?? join(folder, 'data');
  const imported = name === 'docker' && data === undefined ? await shareImages(root) : [];
  // Docker takes every registry at 127.0.0.0/8 as insecure
  const bridge = name === 'docker' ? createBridge() : undefined;
  const launch = (at: string, path: string): Promise<ChildProcess> =>
    bridge === undefined ? launchPodman(at, path, insecureRegistry) : launchDocker(at, path, root, bridge);
  addDefaultGateway();
  const start = (): Promise<ChildProcess> =>
    alone(name, async () => {
      const launched = await launch(folder, socket);
      await isReady(socket, launched, folder);
      return launched;
    });
  let child = await start();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    name,
    socket,
    imported,
    cpuMs: () => cpuMsOf(child.pid),
    kill,
    async restart() {
      await kill();
      await rm(socket, { force: true });
      child = await start();
    },
    async [Symbol.asyncDispose]() {
      await removeEverything(socket);
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 15_000).unref())]);
      }
      await kill();
      bridge?.remove();
      spawnSync('sh', ['-c', `awk '$2 ~ "^${folder}/" { print $2 }' /proc/mounts | sort -r | xargs -r umount -l`]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** utime and stime of proc(5), in ticks of 10 ms. */
function cpuMsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Two Docker engines that start at the same moment create the same chains of iptables, and one of them fails. */
function alone<T>(name: EngineName, start: () => Promise<T>): Promise<T> {
  return name === 'docker' ? withFileLock(join(tmpdir(), 'toolmgr-docker-start'), start) : start();
}

async function launchDocker(
  folder: string,
  socket: string,
  root: string,
  { name, pool }: EngineBridge,
): Promise<ChildProcess> {
  const paths = ['--data-root', root, '--exec-root', join(folder, 'exec')];
  const network = ['--bridge', name, '--default-address-pool', pool];
  const rest = ['--pidfile', join(folder, 'pid'), '--host', `unix://${socket}`, ...network];
  // a killed containerd may stay as a zombie, which dockerd takes for a running one
  for (const pid of ['pid', 'exec/containerd/containerd.pid']) await rm(join(folder, pid), { force: true });
  return started('dockerd', [...paths, ...rest, '--exec-opt', 'native.cgroupdriver=cgroupfs'], folder, {});
}

async function launchPodman(folder: string, socket: string, insecureRegistry?: string): Promise<ChildProcess> {
  const [containers, storage, registries] = ['containers', 'storage', 'registries'].map((name) =>
    join(folder, `${name}.conf`),
  ) as [string, string, string];
  const limits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]';
  const engine = 'runtime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"';
  const network = `network_backend = "cni"\nnetwork_config_dir = "${join(folder, 'networks')}"`;
  for (const name of ['networks', 'tmp']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(containers, `[containers]\n${limits}\n[engine]\n${engine}\n[network]\n${network}\n`);
  const roots = `graphroot = "${join(folder, 'graph')}"\nrunroot = "${join(folder, 'run')}"`;
  const shared = `[storage.options]\nadditionalimagestores = [${JSON.stringify(await podmanStore())}]\n`;
  await writeFile(storage, `[storage]\ndriver = "overlay"\n${roots}\n${shared}`);
  const insecure =
    insecureRegistry === undefined ? '' : `[[registry]]\nlocation = "${insecureRegistry}"\ninsecure = true\n`;
  await writeFile(registries, `unqualified-search-registries = ["docker.io"]\n${insecure}`);
  const env = {
    CONTAINERS_CONF: containers,
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_REGISTRIES_CONF: registries,
    TMPDIR: join(folder, 'tmp'), // Podman 4 keeps each image that Docker's API loads as a file there
  };
  return started('podman', ['system', 'service', '--time=0', `unix://${socket}`], folder, env);
}

function started(file: string, args: readonly string[], folder: string, env: Record<string, string>): ChildProcess {
  // podman's monitor of a container that was killed for its memory leaves a file in its working folder
  const child = spawn(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const log = createWriteStream(join(folder, 'log'), { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  child.once('error', () => undefined);
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function isReady(socket: string, child: ChildProcess, folder: string): Promise<void> {
  const answers = (): Promise<boolean> =>
    engineCall(socket, 'GET', '/_ping').then(
      ({ status }) => status === 200,
      () => false,
    );
  const died = () => child.exitCode !== null || child.signalCode !== null;
  let isThere = false;
  await until(async () => {
    isThere = await answers();
    return isThere || died();
  }, READY_MS);
  if (!isThere) throw new Error(`the engine did not start, see ${join(folder, 'log')}`);
}

/** One request to the API of an engine, without the client that is tested. */
export function engineCall(
  socket: string,
  method: string,
  path: string,
  body?: Buffer | object,
  type = 'application/json',
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers = bytes === undefined ? {} : { 'content-type': type, 'content-length': bytes.length };
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, method, path, headers: { ...headers, ...more } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
}

async function removeEverything(socket: string): Promise<void> {
  const list = async (path: string) =>
    JSON.parse((await engineCall(socket, 'GET', path)).text) as Record<string, string>[];
  try {
    for (const { Id } of await list('/v1.41/containers/json?all=true')) {
      await engineCall(socket, 'DELETE', `/v1.41/containers/${Id}?force=true&v=true`);
    }
    for (const { Id, Name } of await list('/v1.41/networks')) {
      if (!['bridge', 'host', 'none', 'podman'].includes(Name ?? '')) {
        await engineCall(socket, 'DELETE', `/v1.41/networks/${Id}`);
      }
    }
  } catch {
    // an engine that was killed has nothing to say; its folder goes
  }
}

/** Name of the image that {@link importServerImage} makes. */
export const SERVER_IMAGE = 'localhost/test/everything:1';
export const SERVER_ENTRYPOINT: readonly string[] = ['/usr/bin/node', '/app/server.mjs'];

/**
 * Imports a root file system as an image, since tests reach no public registry: Node.js of this machine, busybox, and the
 * published Everything server in one file, which the image starts over the transport that its first argument names. The root
 * file system is made once and kept in the user's cache.
 */
export async function importServerImage(engine: ContainerEngine): Promise<void> {
  await importRoot(engine, await serverTar(), SERVER_IMAGE, [`ENTRYPOINT ${JSON.stringify(SERVER_ENTRYPOINT)}`]);
}

/** The root file system of {@link SERVER_IMAGE} as a tar. */
export async function serverTar(): Promise<string> {
  const of = `${process.arch}-node${process.versions.node}-${serverVersion()}`;
  const tar = join(rigCache(), `server-image-${VERSION}-${of}.tar`);
  if (!existsSync(tar)) await makeServerTar(tar);
  return tar;
}

const VERSION = 1; // raised when the recipe changes

function serverVersion(): string {
  const file = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

async function makeServerTar(tar: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-image-'));
  try {
    await mkdir(rigCache(), { recursive: true });
    await buildServerRoot(join(folder, 'root'));
    const unfinished = `${tar}.${process.pid}`;
    execFileSync('tar', ['-C', join(folder, 'root'), '-cf', unfinished, '.']);
    await rename(unfinished, tar); // several processes may make it at once
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Imports a tar with a root file system as an image: once for all engines, if it is in the cache. `changes` are lines of a Dockerfile. */
export async function importRoot(
  engine: ContainerEngine,
  tar: string,
  image: string,
  changes: readonly string[] = [],
): Promise<void> {
  const isKept = dirname(tar) === rigCache();
  const key = `${basename(tar, '.tar')}-${image.replace(/\W/g, '-')}`; // the same tar may have had another name
  if (isKept && engine.name === 'podman') return importIntoPodmanStore(key, tar, { image, changes });
  if (engine.imported.includes(key)) return;
  if (isKept) {
    await keepImages(key, async (data) => {
      await using maker = await startEngine('docker', { data });
      await sendRoot(maker, tar, image, changes);
    });
  }
  await sendRoot(engine, tar, image, changes);
}

async function sendRoot(
  engine: ContainerEngine,
  tar: string,
  image: string,
  changes: readonly string[],
): Promise<void> {
  const [name, tag] = [image.slice(0, image.lastIndexOf(':')), image.split(':').at(-1)];
  const lines = changes.map((line) => `&changes=${encodeURIComponent(line)}`).join('');
  await sendFile(
    engine.socket,
    `/v1.41/images/create?fromSrc=-&repo=${encodeURIComponent(name)}&tag=${tag}${lines}`,
    tar,
  );
  if (engine.name === 'docker') return;
  // podman gives what it imports the tag latest
  await engineCall(
    engine.socket,
    'POST',
    `/v1.41/images/${encodeURIComponent(`${name}:latest`)}/tag?repo=${name}&tag=${tag}`,
  );
}

/** Writes the root file system of {@link SERVER_IMAGE}, which starts with {@link SERVER_ENTRYPOINT}. */
export async function buildServerRoot(root: string): Promise<void> {
  await buildNodeRoot(root);
  await bundleServer(join(root, 'app/server.mjs'));
}

/** Writes a root file system with Node.js of this machine and busybox. */
export async function buildNodeRoot(root: string): Promise<void> {
  for (const part of ['bin', 'usr/bin', 'etc', 'tmp', 'app', 'proc', 'sys', 'dev', 'home']) {
    await mkdir(join(root, part), { recursive: true });
  }
  const libraries = await copyProgram(process.execPath, root, 'usr/bin/node');
  const beside = (await readdir(dirname(libraries.find((path) => path.includes('libc.so')) ?? '/lib'))).filter((name) =>
    /^libnss_(dns|files)\.so\.2$/.test(name),
  );
  const folderOfC = dirname(libraries.find((path) => path.includes('libc.so')) ?? '/lib/x');
  for (const name of beside) await copyFile(join(folderOfC, name), join(root, folderOfC, name));
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path));
  if (busybox !== undefined) {
    await copyFile(busybox, join(root, 'bin/busybox'));
    for (const name of ['sh', 'cat', 'ls', 'sleep', 'id', 'touch', 'wget', 'nc', 'env']) {
      await symlink('busybox', join(root, 'bin', name));
    }
  }
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n');
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnobody:x:65534:\n');
}

/** Copies a program with the libraries that it is linked with; returns their paths. */
export async function copyProgram(program: string, root: string, into: string): Promise<readonly string[]> {
  await copyFile(program, join(root, into));
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  for (const library of libraries) {
    await mkdir(dirname(join(root, library)), { recursive: true });
    await copyFile(library, join(root, library));
  }
  return libraries;
}

async function bundleServer(into: string): Promise<void> {
  const input = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  await build({
    input,
    platform: 'node',
    output: { file: into, format: 'esm', codeSplitting: false, banner: ENDS_AT_SIGTERM },
    logLevel: 'silent',
  });
}

/** As process 1 of its container it would ignore the signal, and each stop would take as long as an engine waits: 10 s. */
const ENDS_AT_SIGTERM = "process.on('SIGTERM', () => process.exit(143));";

async function sendFile(socket: string, path: string, file: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(
    { socketPath: socket, method: 'POST', path, headers: { 'content-type': 'application/x-tar' } },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => {
        const isGood = response.statusCode === 200 && !text.includes('"error"');
        if (isGood) resolve(text);
        else reject(new Error(`${basename(file)} was not imported: ${response.statusCode} ${text}`));
      });
    },
  );
  sent.once('error', reject);
  await Promise.all([pipeline(createReadStream(file), sent), promise]);
}

/** Whether this process may mount in a namespace of its own, as every container engine does. */
function mayMount(): boolean {
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}
