import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';
import type { Certificates } from './certificates.ts';

const isInstalled = spawnSync('redis-server', ['--version']).status === 0;

/**
 * Why tests with a real Redis are skipped; `undefined` when they can run, and in CI, where they fail instead. `npm test`
 * installs Debian's package if it has the rights.
 */
export const redisMissing: string | undefined =
  isInstalled || process.env.CI ? undefined : 'no redis-server on this machine (Debian: apt-get install redis-server)';

/** Options of the server. */
export interface RedisOptions {
  readonly password?: string;
  /** Writes every change to disk, so that `restart` keeps the data. */
  readonly keep?: boolean;
  /** Uses TLS with this certificate. */
  readonly tls?: Certificates;
  /** Further lines of its configuration file. */
  readonly lines?: readonly string[];
}

/** A Redis server of a test: `await using redis = await startRedis()`. */
export interface RedisServer extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  /** Kills the process, like a crash. */
  kill(): Promise<void>;
  /** Starts it again at the same address, empty unless `keep`. */
  restart(): Promise<void>;
  /** Suspends the process: connections stay open without answers. */
  pause(): void;
  resume(): void;
}

/** Starts a server on a free loopback port, in a temporary directory. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'toolmgr-redis-'));
  const started = await startOnFreePort(dir, options);
  const { port } = started;
  let { child } = started;
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const onExit = (): void => void child.kill('SIGKILL');
  process.on('exit', onExit);
  return {
    address: `127.0.0.1:${port}`,
    port,
    kill,
    async restart() {
      await kill();
      child = await startAt(port, dir, options);
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      process.off('exit', onExit);
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const ATTEMPTS = 5; // another process may take the port that was free a moment ago

async function startOnFreePort(dir: string, options: RedisOptions) {
  for (let attempt = 1; ; attempt++) {
    const port = await getPort({ host: '127.0.0.1' });
    try {
      return { port, child: await startAt(port, dir, options) };
    } catch (cause) {
      if (attempt === ATTEMPTS) throw cause;
    }
  }
}

async function startAt(
  port: number,
  dir: string,
  { password, keep, tls, lines = [] }: RedisOptions,
): Promise<ChildProcess> {
  const config = [
    ...(tls === undefined ? [`port ${port}`] : await tlsLines(port, dir, tls)),
    'bind 127.0.0.1',
    `dir ${dir}`,
    'save ""',
    ...(keep ? ['appendonly yes', 'appendfsync always'] : []),
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    ...lines,
  ];
  const child = spawn('redis-server', ['-'], { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code} before it was ready`)));
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(`${config.join('\n')}\n`);
  await Promise.race([failed, untilReady(child)]);
  failed.catch(() => {});
  return child;
}

/** Lines of a server or Sentinel that speaks TLS to clients, and to the others of its group. Writes files to `dir`. */
export async function tlsLines(port: number, dir: string, { ca, cert, key }: Certificates): Promise<string[]> {
  const [caFile, certFile, keyFile] = [join(dir, 'ca.pem'), join(dir, 'cert.pem'), join(dir, 'key.pem')];
  await Promise.all([writeFile(caFile, ca), writeFile(certFile, cert), writeFile(keyFile, key)]);
  const files = [`tls-ca-cert-file ${caFile}`, `tls-cert-file ${certFile}`, `tls-key-file ${keyFile}`];
  return ['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-replication yes', ...files];
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    // read until the end: a full pipe would block the server
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve();
    });
  });
}
