import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';
import { Redis } from 'ioredis';
import type { Certificates } from './certificates.ts';
import { type RedisServer, redisMissing, startRedis, tlsLines } from './redis.ts';
import { until } from './until.ts';

const isInstalled = spawnSync('redis-sentinel', ['--version']).status === 0;

/** Why tests with Sentinel are skipped; `undefined` when they can run, and in CI, where they fail instead. */
export const sentinelMissing: string | undefined =
  redisMissing ??
  (isInstalled || process.env.CI
    ? undefined
    : 'no redis-sentinel on this machine (Debian: apt-get install redis-sentinel)');

/** A master, a replica and three Sentinels. */
export interface SentinelGroup extends AsyncDisposable {
  readonly masterName: string;
  /** host:port of each Sentinel. */
  readonly sentinels: readonly string[];
  /** The first master. After it is killed the replica becomes the master in about 2 s. */
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** Port of the current master, as a Sentinel knows it. */
  masterPort(): Promise<number>;
}

/** Options of the group. */
export interface SentinelOptions {
  readonly password: string;
  /** TLS for servers and Sentinels. */
  readonly tls?: Certificates;
}

const MASTER_NAME = 'auth-master';
const COUNT = 3;

/** Starts the group on free loopback ports. Ready when the Sentinels know the replica and each other. */
export async function startSentinelGroup({ password, tls }: SentinelOptions): Promise<SentinelGroup> {
  const stack = new AsyncDisposableStack();
  try {
    const options = { password, ...(tls === undefined ? {} : { tls }) };
    const login = `masterauth ${password}`;
    const master = stack.use(await startRedis({ ...options, lines: [login, 'repl-diskless-sync-delay 0'] }));
    const lines = [login, `replicaof 127.0.0.1 ${master.port}`];
    const replica = stack.use(await startRedis({ ...options, lines }));
    const ports: number[] = [];
    for (let n = 0; n < COUNT; n++)
      ports.push(await startSentinel(stack, master.port, { password, ...(tls ? { tls } : {}) }));
    const secure = tls === undefined ? {} : { tls: { ca: tls.ca } };
    const clients = ports.map((port) => {
      const client = new Redis({ port, protocol: 2, disableClientInfo: true, ...secure });
      client.on('error', () => {});
      stack.defer(() => client.disconnect());
      return client;
    });
    const isReady = async (client: Redis): Promise<boolean> => {
      const facts = listOf(await client.call('SENTINEL', 'MASTER', MASTER_NAME));
      return facts.get('num-slaves') === '1' && facts.get('num-other-sentinels') === String(COUNT - 1);
    };
    await until(async () => (await Promise.all(clients.map(isReady))).every(Boolean), 30_000);
    const first = clients[0] as Redis;
    const owned = stack.move();
    return {
      masterName: MASTER_NAME,
      sentinels: ports.map((port) => `127.0.0.1:${port}`),
      master,
      replica,
      async masterPort() {
        const [, port] = (await first.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[];
        return Number(port);
      },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } finally {
    await stack.disposeAsync();
  }
}

async function startSentinel(
  stack: AsyncDisposableStack,
  masterPort: number,
  { password, tls }: SentinelOptions,
): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'toolmgr-sentinel-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const port = await getPort({ host: '127.0.0.1' });
  const config = [
    ...(tls === undefined ? [`port ${port}`] : await tlsLines(port, dir, tls)),
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel auth-pass ${MASTER_NAME} ${password}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 1000`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
  ];
  const file = join(dir, 'sentinel.conf'); // it is rewritten by the Sentinel
  await writeFile(file, `${config.join('\n')}\n`);
  const child = spawn('redis-sentinel', [file], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
  const onExit = (): void => void child.kill('SIGKILL');
  process.on('exit', onExit);
  stack.defer(async () => {
    process.off('exit', onExit);
    await end(child);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-sentinel ended with ${code} before it was ready`)));
    // read until the end: a full pipe would block the Sentinel
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('+monitor master')) resolve();
    });
  });
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A flat list of names and values as a map. */
function listOf(reply: unknown): ReadonlyMap<string, string> {
  const flat = reply as string[];
  return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : [])));
}
