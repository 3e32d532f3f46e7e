import { createHash } from 'node:crypto';
import { type Call, createGateway } from '@toolmgr/core';
import { testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { stderrLog } from '../../../core/extension/log.ts';
import { bucketsOf } from '../../../plugins/rate-limit/buckets.ts';
import { rateLimitConfig } from '../../../plugins/rate-limit/config.ts';
import { headerAuth, limited, passed, per } from '../../support/limited-gateway.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';

const RACERS = 200;

/** A gateway with a real server, a bucket of ten per user and a larger one for all. */
async function served(backendUrl: string, store: { use: string; with?: unknown }) {
  const gateway = await createGateway(
    {
      name: 'race',
      plugins: [
        { use: headerAuth.address },
        { use: 'outgoing-auth/unauthenticated' },
        {
          use: 'backend-sources/static',
          with: { backends: [{ name: 'far', url: backendUrl, transport: 'streamable-http' }] },
        },
        store,
        {
          use: 'rate-limit',
          with: {
            store: store.use.replace('stores/', ''),
            shared: per(15, '10h'),
            tools: [{ name: 'echo', perUser: per(10, '10h') }],
          },
        },
      ],
    },
    { catalogue, plugins: [headerAuth], log: stderrLog('silent') },
  );
  await gateway.settled();
  const http = await loopbackServer((request, response) => gateway.handle(request, response));
  return {
    url: `${http.url}/mcp`,
    async [Symbol.asyncDispose]() {
      await Promise.all([http[Symbol.asyncDispose](), gateway.stop()]);
    },
  };
}

/** Two hundred parallel calls of one user over eight clients; returns the number of allowed ones. */
async function race(url: string, user: string, era: '2025-11-25' | '2026-07-28'): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: 8 }, () => testClient((request) => fetch(request), url, { era, headers: { 'x-user': user } })),
  );
  const replies = await Promise.all(
    Array.from({ length: RACERS }, (_, n) =>
      clients[n % clients.length]?.request('tools/call', { name: 'echo', arguments: { message: `${n}` } }),
    ),
  );
  const refusals = replies.filter((reply) => reply?.error?.code === 429 || reply?.result?.isError === true);
  const granted = replies.filter((reply) => reply?.result !== undefined && reply.result.isError !== true);
  expect(refusals.length + granted.length).toBe(RACERS);
  return granted.length;
}

describe('a race of 200 parallel calls on a bucket of 10', () => {
  const LONG = 120_000;

  proves(
    'choice.rate-limit.race',
    'allows exactly 10 in memory, and takes no tokens for the others',
    async () => {
      await using far = await recordingServer();
      await using gateway = await served(far.url, { use: 'stores/memory' });
      expect(await race(gateway.url, 'ada', '2026-07-28')).toBe(10);
      expect(await race(gateway.url, 'bob', '2025-11-25')).toBe(5); // the rest of the fifteen of all users
      expect(far.calls).toHaveLength(15);
    },
    LONG,
  );

  proves.skipIf(redisMissing, redisMissing ?? '')(
    ['choice.rate-limit.race', 'vmcp.config.session-storage-address'],
    'allows exactly 10 in Redis, and takes no tokens for the others',
    async () => {
      await using redis = await startRedis();
      await using far = await recordingServer();
      await using gateway = await served(far.url, { use: 'stores/redis', with: { address: redis.address } });
      expect(await race(gateway.url, 'ada', '2025-11-25')).toBe(10);
      expect(await race(gateway.url, 'bob', '2026-07-28')).toBe(5);
      expect(far.calls).toHaveLength(15);
    },
    LONG,
  );
});

describe('crafted names', () => {
  proves('choice.rate-limit.keys-apart', 'cannot reach a bucket of another user or tool', () => {
    const names = [
      '',
      ':',
      'a',
      'a:b',
      'b',
      'tool:a',
      'shared',
      'shared:tool:a',
      'user:a',
      'a\0b',
      '{x}',
      '\ud800',
      'x'.repeat(9000),
    ];
    const digest = createHash('sha256').update('test\0a').digest('base64url');
    const tools = [...names.filter((name) => name !== ''), `${digest}:a`, digest];
    const byCaller = bucketsOf(
      rateLimitConfig.parse({
        shared: per(1),
        perUser: per(1),
        tools: tools.map((name) => ({ name, shared: per(1), perUser: per(1) })),
      }),
    );
    const owners = new Map<string, string>();
    for (const issuer of ['', 'test', 'test\0a']) {
      for (const subject of [...names, `${digest}:a`, digest]) {
        const caller = { issuer, subject, key: `${issuer}\0${subject}`, claims: {} };
        for (const tool of tools) {
          const call = { method: 'tools/call', target: { key: tool }, caller } as unknown as Call;
          const [all, user, toolOfAll, toolOfUser] = byCaller(call)?.map(({ key }) => key) ?? [];
          const claims: [string | undefined, string][] = [
            [all, 'all'],
            [user, JSON.stringify(['user', caller.key])],
            [toolOfAll, JSON.stringify(['tool', tool])],
            [toolOfUser, JSON.stringify(['tool of user', tool, caller.key])],
          ];
          for (const [key = '', owner] of claims) {
            expect(owners.get(key) ?? owner, key).toBe(owner);
            owners.set(key, owner);
          }
        }
      }
    }
    expect(Math.max(...[...owners.keys()].filter((key) => key.startsWith('user:')).map(({ length }) => length))).toBe(
      48,
    );
  });
});

describe('an unlimited number of users', () => {
  proves(
    'choice.rate-limit.store-full-closed',
    'cannot pass a full store or reset the bucket of another user',
    async () => {
      await using it = await limited({ shared: per(1000), perUser: per(2) }, { maxKeys: 11 });
      expect(await passed(it.kit, 'victim', 'read', 3)).toBe(2);
      for (let n = 0; n < 9; n++) expect(await passed(it.kit, `user-${n}`, 'read', 1)).toBe(1);
      for (let n = 0; n < 20; n++) expect(await passed(it.kit, `more-${n}`, 'read', 1)).toBe(0);
      expect(await passed(it.kit, 'victim', 'read', 1)).toBe(0);
      expect(await passed(it.kit, 'user-0', 'read', 5)).toBe(1);
      expect(it.kit.logged.filter((line) => line.includes('rate limits cannot be checked'))).toHaveLength(1);
      it.clock.nowMs += 60_000; // full buckets are removed
      expect(await passed(it.kit, 'more-0', 'read', 5)).toBe(2);
    },
  );
});
