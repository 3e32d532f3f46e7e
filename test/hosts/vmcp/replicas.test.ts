import { Redis } from 'ioredis';
import { afterAll, describe, expect } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { type RedisServer, redisMissing, startRedis } from '../../support/redis.ts';
import { INITIALIZE, request } from '../../support/replicas.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { apiKeys, writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const LIMITED = request('tools/call', { name: 'far_fail', arguments: {} });
const ECHO = request('tools/call', { name: 'far_echo', arguments: { message: 'hi' } });

const folder = temporaryFolderOfFile('replicas');
const far = await recordingServer();
afterAll(() => far[Symbol.asyncDispose]());

/** Two processes of one file, with one Redis between them. */
async function replicas(redis: RedisServer, flags: readonly string[] = [], more: object = {}) {
  const file = await writeVmcpFile(
    folder,
    { far: far.url },
    {
      name: 'replicated',
      incomingAuth: undefined,
      plugins: [apiKeys('ada', 'eve')],
      sessionStorage: { provider: 'redis', address: redis.address },
      limits: { sessionCheckMs: 0 },
      ...more,
    },
  );
  const running = [1, 2].map(() => startCli(['vmcp', 'serve', '-c', file, '--port', '0', ...flags]));
  const urls = await Promise.all(
    running.map(async (each) => {
      const [, url = ''] = await each.printed(/serves (http:\S+)/);
      await each.printed(/backend ready/);
      return url;
    }),
  );
  const [a = '', b = ''] = urls;
  return {
    a,
    b,
    running,
    [Symbol.asyncDispose]: async () => void (await Promise.all(running.map((each) => each[Symbol.asyncDispose]()))),
  };
}

async function send(url: string, session: string | undefined, message: object | 'DELETE', key = 'key-of-ada') {
  const headers = {
    'x-api-key': key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  const init = message === 'DELETE' ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(message) };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, session: response.headers.get('mcp-session-id'), text: await response.text() };
}

const open = async (url: string): Promise<string> => (await send(url, undefined, INITIALIZE)).session ?? '';

describe('two processes with one Redis', () => {
  const real = proves.skipIf(redisMissing, redisMissing ?? '');

  real(
    ['choice.session.shared', 'choice.session.shared-end', 'choice.session.shared-theft'],
    'serve one session, end it for both, and refuse it to other callers',
    async () => {
      await using redis = await startRedis();
      await using at = await replicas(redis);
      const id = await open(at.a);
      expect((await send(at.b, id, ECHO)).text).toContain('echo: hi');
      expect((await send(at.b, id, 'DELETE')).status).toBe(200);
      expect((await send(at.a, id, ECHO)).status).toBe(404);

      const stolen = await open(at.a);
      expect((await send(at.b, stolen, ECHO, 'key-of-eve')).status).toBe(404);
      expect((await send(at.a, stolen, ECHO)).status).toBe(404);
      const printed = at.running.map((each) => each.out() + each.err()).join('');
      expect(printed).not.toMatch(/key-of-(ada|eve)/);
    },
    LONG,
  );

  real(
    'choice.session.shared-ttl',
    'expire a session for both',
    async () => {
      await using redis = await startRedis();
      await using at = await replicas(redis, ['--session-ttl', '1s']);
      const id = await open(at.a);
      const client = new Redis(redis.port, '127.0.0.1');
      try {
        const key = `toolmgr:vmcp:session:{replicated}:${id}`;
        expect(await client.pttl(key)).toBeLessThanOrEqual(1_000);
        await until(async () => (await client.exists(key)) === 0);
      } finally {
        client.disconnect();
      }
      expect((await send(at.b, id, ECHO)).status).toBe(404);
      expect((await send(at.a, id, ECHO)).status).toBe(404);
    },
    LONG,
  );

  real(
    ['choice.rate-limit.sessions-store-away', 'choice.session.shared-lost'],
    'keep their known sessions when Redis crashes, and share them again when it is back without data',
    async () => {
      await using redis = await startRedis();
      await using at = await replicas(redis);
      const id = await open(at.a);
      await redis.kill();
      expect((await send(at.a, id, ECHO)).text).toContain('echo: hi');
      await until(async () => (await send(at.b, id, ECHO)).status === 503);
      await redis.restart();
      // the first replica knows the session and writes it again
      await until(async () => {
        expect((await send(at.a, id, ECHO)).status).toBe(200);
        return (await send(at.b, id, ECHO)).status === 200;
      }, 30_000);
    },
    LONG,
  );

  real(
    ['choice.session.shared-lost', 'choice.rate-limit.store-away-open', 'choice.rate-limit.store-away-logged-once'],
    'lose no call under load while Redis is killed and started again, and limit and share again after it',
    async () => {
      await using redis = await startRedis();
      const rateLimiting = { tools: [{ name: 'far_fail', shared: { maxTokens: 2, refillPeriod: '10h' } }] };
      await using at = await replicas(redis, [], { rateLimiting });
      await using load = await loaded([at.a, at.b, at.a, at.b]);
      await load.more();
      await redis.kill();
      await load.more();
      await redis.restart();
      await load.more();
      const [first = ''] = load.sessions;
      await until(async () => (await send(at.b, first, ECHO)).status === 200, 30_000);
      expect(load.lost).toEqual([]);
      // both count in the restarted Redis
      const limited = async (url: string) => (await send(url, first, LIMITED)).text.includes('retryAfterSeconds');
      await until(async () => (await limited(at.a)) && (await limited(at.b)));
      for (const each of at.running) {
        expect((each.out() + each.err()).match(/the redis store is unavailable/g)).toHaveLength(1);
      }
    },
    LONG,
  );
});

/** Calls without a pause until disposed. Each lane has its own session and replica. */
async function loaded(urls: readonly string[]) {
  const sessions = await Promise.all(urls.map(open));
  const lost: unknown[] = [];
  const counts = urls.map(() => 0);
  let isOver = false;
  const lanes = urls.map(async (url, lane) => {
    while (!isOver) {
      const { status, text } = await send(url, sessions[lane], ECHO);
      if (status !== 200 || !text.includes('echo: hi')) lost.push([lane, status, text]);
      counts[lane] = (counts[lane] ?? 0) + 1;
    }
  });
  return {
    sessions,
    lost,
    /** Waits until every lane has answers to calls that began after this. */
    async more() {
      const before = [...counts];
      await until(() => counts.every((count, lane) => count > (before[lane] ?? 0) + 20), 30_000);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all(lanes);
    },
  };
}
