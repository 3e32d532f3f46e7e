import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { type RedisServer, startRedis } from './redis.ts';

/** Three masters that share the slots. */
export interface RedisCluster extends AsyncDisposable {
  readonly nodes: readonly RedisServer[];
}

/** Starts a Cluster on free loopback ports. */
export async function startRedisCluster(password: string): Promise<RedisCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const nodes: RedisServer[] = [];
    for (let n = 0; n < 3; n++) {
      const bus = await getPort({ host: '127.0.0.1' });
      const lines = ['cluster-enabled yes', `cluster-port ${bus}`, `masterauth ${password}`];
      nodes.push(stack.use(await startRedis({ password, lines })));
    }
    const create = ['--cluster', 'create', ...nodes.map(({ address }) => address), '--cluster-yes'];
    const env = { ...process.env, REDISCLI_AUTH: password };
    await promisify(execFile)('redis-cli', create, { env, timeout: 60_000 });
    const owned = stack.move();
    return { nodes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } finally {
    await stack.disposeAsync();
  }
}
