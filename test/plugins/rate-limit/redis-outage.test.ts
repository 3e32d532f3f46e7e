import { createGateway, createLog } from '@toolmgr/core';
import { type TestClient, testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { per } from '../../support/limited-gateway.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const provesOnRedis = proves.skipIf(redisMissing, redisMissing ?? '');
const LONG = 120_000;

interface UnderLoad {
  readonly onStoreFailure?: 'closed';
  /** Default: so long that a busy machine is not taken for a Redis that hangs. A killed one refuses connections. */
  readonly commandTimeoutMs?: number;
}

/** A gateway with a bucket of five in Redis; four loops call it without a pause until it is disposed. */
async function underLoad(address: string, { onStoreFailure, commandTimeoutMs = 10_000 }: UnderLoad = {}) {
  const far = await recordingServer();
  const lines: string[] = [];
  const gateway = await createGateway(
    {
      name: 'away',
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        {
          use: 'backend-sources/static',
          with: { backends: [{ name: 'far', url: far.url, transport: 'streamable-http' }] },
        },
        { use: 'telemetry', with: { enablePrometheusMetricsPath: true } },
        { use: 'stores/redis', with: { address, commandTimeoutMs } },
        {
          use: 'rate-limit',
          with: { store: 'redis', shared: per(5, '10h'), ...(onStoreFailure && { onStoreFailure }) },
        },
      ],
    },
    { catalogue, log: createLog('info', (line) => lines.push(line)) },
  );
  await gateway.settled();
  const http = await loopbackServer((request, response) => gateway.handle(request, response));
  const counts = { granted: 0, refused: 0, unchecked: 0, other: 0 };
  let isOver = false;
  const loop = async (client: TestClient): Promise<void> => {
    while (!isOver) {
      const { result, error } = await client.request('tools/call', { name: 'echo', arguments: { message: 'x' } });
      if (result !== undefined && result.isError !== true) counts.granted += 1;
      else if (error?.message === 'rate limit exceeded') counts.refused += 1;
      else if (error?.message === 'rate limits cannot be checked at the moment') counts.unchecked += 1;
      else counts.other += 1;
    }
  };
  const loops = Array.from({ length: 4 }, async () =>
    loop(await testClient((request) => fetch(request), `${http.url}/mcp`)),
  );
  return {
    lines,
    counts,
    /** Calls that the metrics counted as allowed without limit. */
    async countedOpen() {
      const samples = prometheusSamples(await (await fetch(`${http.url}/metrics`)).text());
      return samples.find(({ name }) => name === 'toolmgr_rate_limit_fail_open_total')?.value ?? 0;
    },
    /** Waits until new calls of a kind have been counted. */
    async more(kind: keyof typeof counts, times = 20) {
      const before = counts[kind];
      await until(() => counts[kind] >= before + times);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all(loops);
      await Promise.all([http[Symbol.asyncDispose](), gateway.stop()]);
      await far[Symbol.asyncDispose]();
    },
  };
}

describe('rate limits in a Redis that is killed and started again under load', () => {
  provesOnRedis(
    [
      'choice.rate-limit.store-away-open',
      'choice.rate-limit.store-away-logged-once',
      'choice.rate-limit.store-away-counted',
      'choice.store.redis-away',
    ],
    'allow calls, log their number once, and recover by themselves',
    async () => {
      await using redis = await startRedis();
      await using load = await underLoad(redis.address);
      await load.more('refused');
      expect(load.counts.granted).toBe(5);
      await redis.kill();
      await load.more('granted');
      await redis.restart();
      await load.more('refused');
      await until(() => load.lines.some((line) => line.includes('are checked again')));
      const told = load.lines.filter((line) => /rate limits|redis store/.test(line));
      expect(told.map((line) => (JSON.parse(line) as { message?: string; msg?: string }).message)).toEqual(
        expect.arrayContaining([
          'the redis store is unavailable',
          'rate limits cannot be checked',
          'the redis store is available again',
          'rate limits are checked again',
        ]),
      );
      expect(told).toHaveLength(4);
      const { passed } = JSON.parse(told.find((line) => line.includes('checked again')) ?? '{}') as { passed: number };
      // five calls before and five after were checked; the others were counted
      expect(passed).toBe(load.counts.granted - 10);
      expect(await load.countedOpen()).toBe(passed);
      expect([load.counts.unchecked, load.counts.other]).toEqual([0, 0]);
    },
    LONG,
  );

  provesOnRedis(
    'choice.rate-limit.store-away-open',
    'refuse calls until it is available again, with onStoreFailure closed',
    async () => {
      await using redis = await startRedis();
      await using load = await underLoad(redis.address, { onStoreFailure: 'closed' });
      await load.more('refused');
      await redis.kill();
      await load.more('unchecked');
      expect(load.counts.granted).toBe(5);
      await redis.restart();
      await load.more('granted', 5);
      await load.more('refused');
      expect([load.counts.granted, load.counts.other]).toEqual([10, 0]);
      expect(await load.countedOpen()).toBe(0);
    },
    LONG,
  );

  provesOnRedis(
    'choice.store.redis-hangs',
    'handle a hanging Redis like a stopped one',
    async () => {
      await using redis = await startRedis();
      await using load = await underLoad(redis.address, { commandTimeoutMs: 300 });
      await load.more('refused');
      redis.pause();
      await load.more('granted');
      redis.resume();
      await load.more('refused');
      expect([load.counts.unchecked, load.counts.other]).toEqual([0, 0]);
    },
    LONG,
  );
});
