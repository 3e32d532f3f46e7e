import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testClient } from '@toolmgr/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { certificates } from '../../support/certificates.ts';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { per } from '../../support/limited-gateway.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { apiKeys, writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const PASSWORD = 'pw-of-the-replicas';

const folder = temporaryFolderOfFile('replicas');
const far = await recordingServer();
afterAll(() => far[Symbol.asyncDispose]());

/** A file with ten calls for all users and six per user. */
function fileWith(sessionStorage: object): Promise<string> {
  const rateLimiting = { shared: per(10, '10h'), tools: [{ name: 'far_echo', perUser: per(6, '10h') }] };
  const plugins = [apiKeys('ada', 'bob')];
  return writeVmcpFile(folder, { far: far.url }, { incomingAuth: undefined, plugins, rateLimiting, sessionStorage });
}

/** Two processes with the same file. */
async function replicas(sessionStorage: object, more: Readonly<Record<string, string>> = {}) {
  const file = await fileWith(sessionStorage);
  const env = { TOOLMGR_SESSION_REDIS_PASSWORD: PASSWORD, ...more };
  const running: RunningCli[] = [1, 2].map(() => startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env }));
  const dispose = async () => void (await Promise.all(running.map((each) => each[Symbol.asyncDispose]())));
  const urls = await Promise.all(running.map(servedAt));
  return {
    urls,
    printed: () => running.map((each) => each.out() + each.err()).join(''),
    [Symbol.asyncDispose]: dispose,
  };
}

async function servedAt(running: RunningCli): Promise<string> {
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  const status = async () => (await (await fetch(new URL('/status', url))).json()) as { healthy: boolean };
  await until(async () => (await status()).healthy);
  return url;
}

/** The number of a user's parallel calls that one process allowed. */
async function passedAt(url: string, user: string, times: number): Promise<number> {
  const client = await testClient((request) => fetch(request), url, { headers: { 'x-api-key': `key-of-${user}` } });
  const asked = Array.from({ length: times }, () =>
    client.request('tools/call', { name: 'far_echo', arguments: { message: 'x' } }),
  );
  return (await Promise.all(asked)).filter(({ result }) => result !== undefined).length;
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

describe('two gateway processes', () => {
  proves.skipIf(redisMissing, redisMissing ?? '')(
    ['vmcp.rate-limiting.needs-redis', 'vmcp.config.session-storage-provider', 'vmcp.config.session-storage-password'],
    'with one Redis share their buckets',
    async () => {
      await using redis = await startRedis({ password: PASSWORD });
      await using both = await replicas({ provider: 'redis', address: redis.address, db: 1, keyPrefix: 'acme:' });
      expect(sum(await Promise.all(both.urls.map((url) => passedAt(url, 'ada', 20))))).toBe(6);
      expect(sum(await Promise.all(both.urls.map((url) => passedAt(url, 'bob', 20))))).toBe(4);
      expect(both.printed()).not.toContain(PASSWORD);
    },
    LONG,
  );

  it.skipIf(redisMissing)(
    'use TLS with a Redis whose certificate they trust',
    async () => {
      const tls = certificates();
      await writeFile(join(folder, 'ca.pem'), tls.ca);
      await using redis = await startRedis({ password: PASSWORD, tls });
      const address = `localhost:${redis.port}`;
      const env = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
      await using both = await replicas({ provider: 'redis', address, tls: true }, env);
      expect(sum(await Promise.all(both.urls.map((url) => passedAt(url, 'ada', 10))))).toBe(6);
    },
    LONG,
  );

  proves(
    ['choice.rate-limit.memory-without-redis', 'vmcp.rate-limiting.needs-redis'],
    'without Redis have separate buckets',
    async () => {
      await using both = await replicas({ provider: 'memory' });
      expect(await Promise.all(both.urls.map((url) => passedAt(url, 'ada', 20)))).toEqual([6, 6]);
    },
    LONG,
  );
});
