import type { BackendHealth, JsonObject } from '@toolmgr/core';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { answer, type Got, httpServer, json, legacyAnswers } from '../core/backend/support.ts';
import { legacySession, modernListen } from '../support/gateway-streams.ts';
import { proves } from '../support/proves.ts';
import { until } from '../support/until.ts';
import { CELLS } from './rig/cells.ts';
import { type Steady, steadyCalls } from './rig/load.ts';
import { type HardServer, hardServer } from './rig/programs.ts';
import { type Backends, type NearClient, type ServedGateway, serve } from './rig/served.ts';

const LONG = 120_000;
/** As in the other fault tests: what others may take meanwhile, and what a busy machine adds to it. */
const P99_MS = 400;
const BUSY_FACTOR = 10;
const SETTLE_MS = 20_000;

const TEN = Array.from({ length: 10 }, (_, n) => `good${n}`);
const QUICK = TEN.map((name) => `${name}_quick`);

/** Seconds instead of minutes. */
const SOON = { healthCheckInterval: '300ms', healthCheckTimeout: '1s', unhealthyThreshold: 2 } as const;
const LISTS = 'notifications/tools/list_changed';

function textOf(result: JsonObject): string {
  const [first] = result.content as JsonObject[];
  return String(first?.text);
}

/** Ten good backends, the one under test, and the health monitor. */
async function watched(bad: string, more: { handling?: object; limits?: object; era?: 'legacy' | 'modern' } = {}) {
  const good = await hardServer('both');
  const named = TEN.map((name, n) => [
    name,
    { transport: 'streamable-http', url: good.url, era: n % 2 ? 'legacy' : 'modern' },
  ]);
  const backends = {
    ...(Object.fromEntries(named) as Backends),
    bad: { transport: 'streamable-http', url: bad, ...(more.era === undefined ? {} : { era: more.era }) },
  } as Backends;
  const handling = { ...SOON, partialFailureMode: 'best_effort', ...more.handling };
  const limits = { listGraceMs: 300, coalesceMs: 30, ...more.limits };
  const plugins = [{ use: 'health', with: handling }];
  return serve(backends, { plan: { plugins, limits, timeouts: { perWorkloadMs: { bad: 1_000 } } } });
}

const healthOf = (at: ServedGateway): BackendHealth | undefined =>
  at.gateway.backends().find(({ backend }) => backend.name === 'bad')?.health;

const becomes = (at: ServedGateway, status: BackendHealth['status']) =>
  until(() => healthOf(at)?.status === status, SETTLE_MS);

const lists = (at: ServedGateway) =>
  at.gateway
    .catalog()
    .visible('tool')
    .some(({ backend: workload }) => workload === 'bad');

/** Records the list changes of one client of each era. */
async function listening(at: ServedGateway) {
  const heard: string[][] = [[], []];
  const streams = [
    await (await legacySession(at.gateway)).stream(),
    await modernListen(at.gateway, { toolsListChanged: true }),
  ];
  for (const [n, stream] of streams.entries()) {
    void (async () => {
      for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
        const { method } = event.message;
        if (method === LISTS) heard[n]?.push(method);
      }
    })().catch(() => undefined);
  }
  return { counts: () => heard.map(({ length }) => length) };
}

describe('while one backend fails, ten others answer within their own time', () => {
  let clients: readonly NearClient[];
  let steady: Steady;

  /** Clients of both eras that call the ten all the time; what the calls may take is measured first. */
  async function busy(at: ServedGateway): Promise<number> {
    clients = await Promise.all([CELLS[0], CELLS[2]].map((cell) => at.client({ era: cell?.near ?? '2026-07-28' })));
    const untroubled = steadyCalls(clients, QUICK);
    await until(() => untroubled.count() >= 200, SETTLE_MS);
    const allowedMs = P99_MS + BUSY_FACTOR * (await untroubled.stop()).p99Ms;
    steady = steadyCalls(clients, QUICK);
    return allowedMs;
  }

  async function unharmed(what: string, allowedMs: number): Promise<void> {
    await until(() => steady.count() > 100, SETTLE_MS);
    const { calls, p50Ms, p99Ms, failures } = await steady.stop();
    console.log(`${what}: ${calls} other calls, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
    expect(failures).toBe(0);
    expect(p99Ms).toBeLessThan(allowedMs);
    for (const client of clients) await client.close();
  }

  proves(
    [
      'choice.health.isolation',
      'choice.health.set-aside',
      'choice.health.breaker-refusal',
      'choice.health.breaker-transitions',
    ],
    'one that hangs: its breaker opens, its calls fail immediately, its lists are removed and restored with one notification to each client',
    async () => {
      for (const era of ['legacy', 'modern'] as const) {
        const bad = await hardServer(era);
        const handling = { circuitBreaker: { enabled: true, failureThreshold: 3, timeout: '1s' } };
        await using at = await watched(bad.url, { handling, era, limits: { listGraceMs: 3_000 } });
        const allowedMs = await busy(at);
        const client = await at.client();
        expect(textOf(await client.callTool('bad_quick'))).toBe('quick');
        const heard = await listening(at);
        const before = heard.counts();

        process.kill(bad.pid, 'SIGSTOP');
        await until(() => healthOf(at)?.breaker?.state === 'open', SETTLE_MS);
        const startedMs = performance.now();
        const refused = await client.callTool('bad_quick');
        expect(textOf(refused)).toMatch(/circuit breaker is (open|half-open).*BACKEND_CIRCUIT_OPEN/);
        expect(performance.now() - startedMs).toBeLessThan(allowedMs);
        expect(healthOf(at)).toMatchObject({ status: 'unhealthy', errorCategory: 'timeout' });
        await until(() => !lists(at), SETTLE_MS);
        await until(() => heard.counts().every((count, n) => count > (before[n] ?? 0)));

        process.kill(bad.pid, 'SIGCONT');
        await until(() => healthOf(at)?.breaker?.state === 'closed', SETTLE_MS);
        await until(() => lists(at), SETTLE_MS);
        expect(textOf(await client.callTool('bad_quick'))).toBe('quick');
        await becomes(at, 'healthy');
        await until(() => heard.counts().every((count, n) => count >= (before[n] ?? 0) + 2));
        await unharmed(`a ${era} backend hangs`, allowedMs);
        expect(heard.counts()).toEqual(before.map((count) => count + 2)); // gone once, back once
        await client.close();
      }
    },
    LONG,
  );

  proves(
    'choice.health.isolation',
    'one that ends during a response, and permanently',
    async () => {
      const bad = await hardServer('both');
      await using at = await watched(bad.url);
      const allowedMs = await busy(at);
      const client = await at.client();
      for (let n = 0; n < 5; n++) {
        expect((await client.callTool('bad_halfReset')).isError).toBe(true);
        expect(textOf(await client.callTool('bad_quick'))).toBe('quick'); // it is there: a call that breaks is only a call
      }
      expect(healthOf(at)?.status).not.toBe('unhealthy');
      await bad.kill();
      await becomes(at, 'unhealthy');
      expect(healthOf(at)).toMatchObject({ errorCategory: 'connection_failed' });
      await until(() => !lists(at), SETTLE_MS);
      await unharmed('a backend dies', allowedMs);
      await client.close();
    },
    LONG,
  );

  proves(
    'choice.health.isolation',
    'one that answers 100 MB: the call fails, the backend stays',
    async () => {
      const bad = await hardServer('both');
      await using at = await watched(bad.url, { limits: { resultBytes: 1_048_576, frameBytes: 1_048_576 } });
      const allowedMs = await busy(at);
      const client = await at.client();
      for (let n = 0; n < 3; n++) {
        expect(textOf(await client.callTool('bad_big', { mebibytes: 100 }))).toContain('BACKEND_TOO_LARGE');
      }
      await until(() => healthOf(at)?.consecutiveFailures === 0, SETTLE_MS);
      expect(textOf(await client.callTool('bad_quick'))).toBe('quick');
      await unharmed('a backend answers 100 MB', allowedMs);
      await client.close();
    },
    LONG,
  );

  proves(
    'choice.health.isolation',
    'one that answers garbage, and recovers',
    async () => {
      let isFaulty = false;
      const answers = legacyAnswers({
        before(got) {
          if (isFaulty) json(got.response, '<html>what</html>');
          return isFaulty;
        },
      });
      const bad = await httpServer(answers);
      await using at = await watched(bad.url);
      const allowedMs = await busy(at);
      await until(() => healthOf(at)?.status === 'healthy', SETTLE_MS);
      isFaulty = true;
      await becomes(at, 'unhealthy');
      expect(healthOf(at)).toMatchObject({ errorCategory: 'health_check_failed' });
      isFaulty = false;
      await becomes(at, 'healthy');
      const client = await at.client();
      expect(textOf(await client.callTool('bad_echo'))).toBe('legacy');
      await unharmed('a backend answers garbage', allowedMs);
      await client.close();
    },
    LONG,
  );
});

describe('a backend that flaps', () => {
  let bad: HardServer;
  let flapping: NodeJS.Timeout;
  beforeEach(async () => {
    bad = await hardServer('both');
  });
  afterEach(() => clearInterval(flapping));

  const FLAP_MS = 400;
  const FOR_MS = 5_000;

  /** Suspends and resumes, each time longer than the detection takes. */
  async function flap(): Promise<number> {
    let flaps = 0;
    const startedMs = performance.now();
    flapping = setInterval(() => process.kill(bad.pid, flaps++ % 2 === 0 ? 'SIGSTOP' : 'SIGCONT'), FLAP_MS);
    await until(() => performance.now() - startedMs > FOR_MS, 2 * FOR_MS);
    clearInterval(flapping);
    process.kill(bad.pid, 'SIGCONT');
    return flaps;
  }
  const handling = { healthCheckInterval: '50ms', healthCheckTimeout: '50ms', unhealthyThreshold: 1 };

  proves(
    'choice.health.flapping',
    'causes no notifications within the grace time of its lists',
    async () => {
      await using at = await watched(bad.url, { handling, limits: { listGraceMs: 60_000 } });
      const heard = await listening(at);
      const before = heard.counts();
      const seen = new Set<string>();
      const looking = setInterval(() => seen.add(healthOf(at)?.status ?? 'none'), 5);
      await flap();
      clearInterval(looking);
      expect(seen).toContain('unhealthy');
      await becomes(at, 'healthy');
      expect(heard.counts()).toEqual(before);
    },
    LONG,
  );

  proves(
    'choice.health.flapping',
    'causes at most one removal and one restoration per grace time when it is unavailable for longer',
    async () => {
      const listGraceMs = 200;
      await using at = await watched(bad.url, { handling, limits: { listGraceMs } });
      const heard = await listening(at);
      const before = heard.counts();
      const startedMs = performance.now();
      await flap();
      await becomes(at, 'healthy');
      // more often than it was suspended: on a busy machine it is also late without that
      const graceTimes = (performance.now() - startedMs) / listGraceMs;
      for (const [n, count] of heard.counts().entries()) {
        expect(count - (before[n] ?? 0)).toBeLessThanOrEqual(2 * graceTimes);
      }
    },
    LONG,
  );
});

describe('probes', () => {
  proves(
    'choice.health.off',
    'are not sent without the plugin; a plan without partial-failure serves incomplete lists',
    async () => {
      const asked = await httpServer(legacyAnswers());
      const gone = { transport: 'streamable-http', url: 'http://127.0.0.1:9/mcp' } as const;
      await using at = await serve({ here: { transport: 'streamable-http', url: asked.url }, gone });
      const client = await at.client();
      expect(await client.toolNames()).toEqual(['here_echo']);
      await client.callTool('here_echo');
      expect(asked.of('ping')).toEqual([]);
      expect(at.gateway.backends().every(({ health }) => health === undefined)).toBe(true);
      expect(at.gateway.unready()).toEqual([]);
      await client.close();
    },
  );

  proves(
    ['choice.health.one-probe', 'choice.health.stop'],
    'of many silent backends run one at a time per backend and end with the gateway',
    async () => {
      let isSilent = false;
      const held = new Map<Got, string>();
      const probed = new Map<string, number>();
      let most = 0;
      let isTwice = false;
      const server = await httpServer(
        legacyAnswers({
          before(got) {
            const { message, path, response } = got;
            if (!isSilent || message?.method !== 'ping') return false; // lists may be read at any time
            isTwice ||= [...held.values()].includes(path);
            probed.set(path, (probed.get(path) ?? 0) + 1);
            held.set(got, path);
            most = Math.max(most, held.size);
            response.once('close', () => held.delete(got));
            return true;
          },
        }),
      );
      const many = Array.from({ length: 120 }, (_, n) => [
        `b${n}`,
        { transport: 'streamable-http', url: `${server.url}/${n}`, era: 'legacy' },
      ]);
      // no probe is given up: the server would see its end after the begin of the next
      const handling = { healthCheckInterval: '1s', healthCheckTimeout: '100s', partialFailureMode: 'best_effort' };
      const at = await serve(Object.fromEntries(many) as Backends, {
        plan: { plugins: [{ use: 'health', with: handling }] },
      });
      isSilent = true;
      const isFull = () => until(() => held.size >= 64, SETTLE_MS);
      for (let round = 0; round < 4; round++) {
        await isFull();
        for (const got of [...held.keys()]) {
          held.delete(got);
          answer(got, {});
        }
      }
      expect([...probed.values()].some((times) => times > 1)).toBe(true);
      await isFull();
      expect(most).toBe(64);
      expect(isTwice).toBe(false);
      const startedMs = performance.now();
      await at[Symbol.asyncDispose]();
      expect(performance.now() - startedMs).toBeLessThan(SETTLE_MS);
      await until(() => held.size === 0);
    },
    LONG,
  );
});
