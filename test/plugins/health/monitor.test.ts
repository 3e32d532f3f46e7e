import type { Backend, BackendHealth, CallRecord, Core } from '@toolmgr/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionFailure } from '../../../core/backend/failure.ts';
import type { BackendStatus } from '../../../core/contract/backend.ts';
import { BackendError } from '../../../core/mcp/errors.ts';
import { healthConfig } from '../../../plugins/health/config.ts';
import health from '../../../plugins/health/index.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SECOND = 1_000;
const timedOut = () => new ConnectionFailure('a', 'timeout', 'did not answer');
const refused = () => new ConnectionFailure('a', 'unauthenticated', 'refused the credentials');

type Probe = (name: string, timeoutMs: number, signal: AbortSignal) => Promise<number>;

/** Who made a call: someone who signed in, or anyone at an address. */
interface CallFrom {
  readonly issuer?: string;
  readonly subject?: string;
  readonly address?: string;
}

const ADA: CallFrom = { issuer: 'https://idp', subject: 'ada' };
const BOB: CallFrom = { issuer: 'https://idp', subject: 'bob' };
const EVE: CallFrom = { issuer: 'https://idp', subject: 'eve' };

/** The plugin on a core with scripted backends and fake timers. */
async function watching(config: object = {}, strategy = 'unauthenticated') {
  const base = pluginCore();
  const judged = new Map<string, BackendHealth>();
  const probes: { name: string; atMs: number; timeoutMs: number }[] = [];
  const script: { probe: Probe; running: number; most: number } = { probe: async () => 1, running: 0, most: 0 };
  const startedMs = Date.now();
  let required = false;
  const core: Core = {
    ...base,
    now: () => Date.now(),
    backends: {
      states: () => [],
      strategyOf: () => strategy,
      probe: async (name, timeoutMs, signal) => {
        probes.push({ name, atMs: Date.now() - startedMs, timeoutMs });
        script.most = Math.max(script.most, ++script.running);
        try {
          return await script.probe(name, timeoutMs, signal);
        } finally {
          script.running--;
        }
      },
      setHealth: (name, verdict) => void judged.set(name, verdict),
      credentialsChanged: () => {},
      reshape: () => undefined,
      requireAll: () => {
        required = true;
      },
    },
  };
  health.apply(core, healthConfig.parse(config));
  await core.hooks.starting.promise();
  const backends = new Map<string, Backend>();
  const tell = (
    name: string,
    change: 'added' | 'removed' | 'status',
    status: BackendStatus,
    category?: string,
    known?: BackendHealth,
  ) => {
    const backend = backends.get(name) ?? { name, transport: 'streamable-http', url: 'http://a/' };
    backends.set(name, backend);
    const cause = category === undefined ? undefined : { category, message: 'words' };
    const state = {
      ...{ backend, status, era: undefined, cause, sinceMs: 0, hello: undefined },
      ...(known === undefined ? {} : { health: known }),
    };
    core.hooks.backendChanged.call({ name, change, state: change === 'removed' ? undefined : state });
  };
  return {
    ...base,
    core,
    judged,
    probes,
    script,
    isRequired: () => required,
    statusOf: (name = 'a') => judged.get(name)?.status,
    add(name = 'a') {
      tell(name, 'added', 'unknown');
    },
    tell,
    settle(more: Partial<CallRecord>, backend = 'a', from: CallFrom = ADA) {
      const { issuer = '', subject = 'anonymous', address = '127.0.0.1' } = from;
      const caller = { issuer, subject, key: `${issuer}\0${subject}`, claims: {} };
      const call = { target: { backend }, caller, client: { owner: {} }, inbound: { remoteAddress: address } };
      const record = { startedMs: Date.now() - 1, durationMs: 1, rounds: 1, resultBytes: 2, ...more };
      core.hooks.callSettled.call({ call: call as unknown as CallRecord['call'], outcome: 'ok', ...record });
    },
    /** Calls that waited for a second and were not answered, one per caller. */
    timeOut(...callers: readonly CallFrom[]) {
      const record = {
        outcome: 'fault',
        cause: timedOut(),
        startedMs: Date.now() - SECOND,
        durationMs: SECOND,
      } as const;
      for (const from of callers) this.settle(record, 'a', from);
    },
    /** Waits for the next probe of every backend. */
    async round() {
      await vi.advanceTimersByTimeAsync(30 * SECOND);
    },
    stop: () => core.hooks.stopping.promise(),
  };
}

/** Probes that end only with their signal, and the number of ended ones. */
function untilEnded() {
  let ended = 0;
  const probe: Probe = (_name, _timeoutMs, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        ended++;
        reject(signal.reason);
      });
    });
  return { probe, ended: () => ended };
}

const failing =
  (cause: () => unknown = timedOut) =>
  async () =>
    Promise.reject(cause());

describe('the settings of failure handling', () => {
  proves(
    [
      'vmcp.operational.health-check-interval',
      'vmcp.operational.health-check-timeout',
      'vmcp.operational.partial-failure-mode',
      'vmcp.operational.status-reporting-interval',
      'vmcp.operational.unhealthy-threshold',
      'vmcp.operational.circuit-breaker-enabled',
      'vmcp.operational.circuit-breaker-failure-threshold',
      'vmcp.operational.circuit-breaker-timeout',
    ],
    'have the keys and defaults of the contract',
    () => {
      expect(healthConfig.parse({})).toEqual({
        healthCheckInterval: 30_000,
        healthCheckTimeout: 10_000,
        partialFailureMode: 'fail',
        statusReportingInterval: 30_000,
        unhealthyThreshold: 3,
        circuitBreaker: { enabled: false, failureThreshold: 5, timeout: 60_000 },
      });
      expect(healthConfig.safeParse({ partialFailureMode: 'some' }).success).toBe(false);
      expect(healthConfig.safeParse({ unhealthyThreshold: 1.5 }).success).toBe(false);
      expect(healthConfig.safeParse({ circuitBreaker: { failureThreshold: 0 } }).success).toBe(false);
    },
  );

  proves('vmcp.operational.circuit-breaker-timeout-minimum', 'refuse a breaker that opens for less than 1s', () => {
    expect(healthConfig.safeParse({ circuitBreaker: { timeout: '999ms' } }).success).toBe(false);
    expect(healthConfig.parse({ circuitBreaker: { timeout: '1s' } }).circuitBreaker.timeout).toBe(1_000);
  });

  proves(
    'vmcp.operational.health-check-timeout-below-interval',
    'warn when a probe may take a whole interval',
    async () => {
      const odd = await watching({ healthCheckInterval: '5s' });
      expect(odd.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('healthCheckTimeout') }]);
      const even = await watching({ healthCheckInterval: '5s', healthCheckTimeout: '4s' });
      expect(even.lines).toEqual([]);
    },
  );

  proves(
    'vmcp.operational.partial-failure-mode',
    'require all backends with fail and none with best_effort',
    async () => {
      expect((await watching()).isRequired()).toBe(true);
      expect((await watching({ partialFailureMode: 'best_effort' })).isRequired()).toBe(false);
    },
  );

  proves('vmcp.operational.status-reporting-interval', 'set the interval of the summary in the log', async () => {
    const kit = await watching({ statusReportingInterval: '10s' });
    kit.add('a');
    kit.tell('a', 'status', 'ready');
    kit.add('b');
    await vi.advanceTimersByTimeAsync(25 * SECOND);
    const lines = kit.lines.filter(({ message }) => message === 'backends');
    expect(lines.map(({ fields }) => fields.total)).toEqual([2, 2]);
    await kit.stop();
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect(kit.lines.filter(({ message }) => message === 'backends')).toHaveLength(2);
  });
});

describe('the monitor', () => {
  it('treats connecting as the first check, then probes once per interval', async () => {
    const kit = await watching({ healthCheckInterval: '20s', healthCheckTimeout: '3s' });
    kit.add();
    kit.tell('a', 'status', 'ready');
    expect(kit.statusOf()).toBe('healthy');
    await vi.advanceTimersByTimeAsync(100 * SECOND);
    const [first = 0] = kit.probes.map(({ atMs }) => atMs);
    expect(first).toBeLessThanOrEqual(20 * SECOND);
    const times = kit.probes.map(({ atMs, timeoutMs }) => [atMs - first, timeoutMs]);
    expect(times).toEqual([0, 20, 40, 60, 80].map((s) => [s * SECOND, 3_000]).slice(0, times.length));
    expect(times.length).toBeGreaterThanOrEqual(4);
  });

  it('makes a backend unhealthy after the threshold, with an error category', async () => {
    const kit = await watching({ unhealthyThreshold: 2 });
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.script.probe = failing();
    await kit.round();
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', consecutiveFailures: 1, errorCategory: 'timeout' });
    await kit.round();
    expect(kit.judged.get('a')).toMatchObject({ status: 'unhealthy', consecutiveFailures: 2 });
    kit.script.probe = async () => 1;
    await kit.round();
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', consecutiveFailures: 0, errorCategory: undefined });
    await kit.round();
    expect(kit.statusOf()).toBe('healthy');
    const changes = kit.lines.filter(({ message }) => message === 'backend health changed');
    expect(changes.map(({ level, fields }) => [level, fields.to])).toEqual([
      ['info', 'healthy'],
      ['warn', 'unhealthy'],
      ['info', 'degraded'],
      ['info', 'healthy'],
    ]);
  });

  proves('choice.health.slow', 'marks a backend degraded when a probe takes more than 5 s', async () => {
    const kit = await watching();
    kit.add();
    kit.script.probe = async () => 5_001;
    await kit.round();
    expect(kit.statusOf()).toBe('degraded');
    kit.settle({});
    expect(kit.statusOf()).toBe('degraded');
    kit.script.probe = async () => 5_000;
    await kit.round();
    expect(kit.statusOf()).toBe('healthy');
  });

  proves(
    'choice.health.users-credentials',
    'treats refused credentials as alive when callers bring their own, otherwise as unauthenticated',
    async () => {
      for (const [strategy, status] of [
        ['unauthenticated', 'unauthenticated'],
        ['token_exchange', 'healthy'],
      ] as const) {
        const kit = await watching({ unhealthyThreshold: 1 }, strategy);
        kit.add();
        kit.script.probe = failing(refused);
        await kit.round();
        expect(kit.statusOf(), strategy).toBe(status);
        kit.tell('a', 'status', 'unauthenticated', 'unauthenticated');
        expect(kit.statusOf(), strategy).toBe(status);
      }
    },
  );

  proves('choice.partial-failure.health-both', 'counts failures and results of calls', async () => {
    const kit = await watching({ unhealthyThreshold: 2 });
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.settle({ outcome: 'fault', cause: timedOut() });
    expect(kit.judged.get('a')).toMatchObject({ consecutiveFailures: 1, errorCategory: 'timeout' });
    kit.settle({});
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', consecutiveFailures: 0 });
    kit.settle({ outcome: 'fault', cause: timedOut() });
    kit.script.probe = failing();
    await vi.advanceTimersByTimeAsync(2 * SECOND); // the probe runs at once instead of after the interval
    expect(kit.probes).toHaveLength(1);
    expect(kit.statusOf()).toBe('unhealthy');
  });

  it('counts many calls that fail together as one failure until the next probe', async () => {
    const kit = await watching();
    kit.add();
    kit.tell('a', 'status', 'ready');
    for (let n = 0; n < 20; n++) kit.settle({ outcome: 'fault', cause: timedOut() });
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', consecutiveFailures: 1 });
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', consecutiveFailures: 0 });
    for (let second = 0; second < 10; second++) {
      for (let n = 0; n < 50; n++) kit.settle({ outcome: 'fault', cause: timedOut() });
      await vi.advanceTimersByTimeAsync(SECOND);
    }
    expect(kit.statusOf()).toBe('degraded');
    expect(kit.probes.length).toBeLessThanOrEqual(12); // at most one per second
  });

  it('ignores calls that were refused, cancelled, answered with an error or failed in the gateway', async () => {
    const kit = await watching({ unhealthyThreshold: 1 });
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.settle({ outcome: 'refused' });
    kit.settle({ outcome: 'cancelled', cause: timedOut() });
    kit.settle({ outcome: 'toolError' });
    kit.settle({ outcome: 'error', cause: new BackendError('a', -32602, 'no such tool', undefined) });
    kit.settle({ outcome: 'fault', cause: new Error('a plugin broke') });
    kit.settle({ outcome: 'fault', cause: refused() });
    kit.settle({ outcome: 'fault', cause: timedOut() }, 'unknown');
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', consecutiveFailures: 0 });
  });

  proves('choice.health.return', 'serves a reconnected backend at once', async () => {
    const kit = await watching({ unhealthyThreshold: 1 });
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.tell('a', 'status', 'unavailable', 'refused');
    expect(kit.judged.get('a')).toMatchObject({ status: 'unhealthy', errorCategory: 'connection_failed' });
    kit.settle({ outcome: 'fault', cause: timedOut() }); // refused without being sent: not counted
    expect(kit.judged.get('a')).toMatchObject({ consecutiveFailures: 1 });
    kit.tell('a', 'status', 'ready');
    expect(kit.statusOf()).toBe('degraded');
    kit.settle({ outcome: 'fault', cause: timedOut() }); // sent, so it counts
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', consecutiveFailures: 1 });
  });

  it('leaves the status to the probe that follows a failed call, with any threshold', async () => {
    const kit = await watching({ unhealthyThreshold: 1 });
    kit.add();
    kit.tell('a', 'status', 'ready');
    for (let n = 0; n < 20; n++) kit.timeOut(EVE);
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', consecutiveFailures: 1, errorCategory: 'timeout' });
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', consecutiveFailures: 0 });
    kit.script.probe = failing();
    kit.timeOut(EVE);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.statusOf()).toBe('unhealthy');
  });

  it('stops the probe of a removed backend and drops its state', async () => {
    const kit = await watching();
    const { probe, ended } = untilEnded();
    kit.script.probe = probe;
    kit.add();
    await kit.round();
    kit.tell('a', 'removed', 'unknown');
    expect(ended()).toBe(1);
    await vi.advanceTimersByTimeAsync(120 * SECOND);
    expect(kit.probes).toHaveLength(1);
    expect(kit.judged.size).toBe(0);
  });

  proves('choice.health.stop', 'stops running probes at once and starts no others', async () => {
    const kit = await watching();
    const { probe, ended } = untilEnded();
    kit.script.probe = probe;
    for (const name of ['a', 'b', 'c']) kit.add(name);
    await kit.round();
    await kit.stop();
    expect([kit.probes.length, ended()]).toEqual([3, 3]);
    await vi.advanceTimersByTimeAsync(600 * SECOND);
    expect(kit.probes).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the probes of many backends', () => {
  proves(
    'choice.health.one-probe',
    'are bounded in number, one at a time per backend, and spread over the interval',
    async () => {
      const kit = await watching();
      const names = Array.from({ length: 1_000 }, (_, n) => `b${n}`);
      for (const name of names) {
        kit.add(name);
        kit.tell(name, 'status', 'ready');
      }
      expect(kit.probes).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(30 * SECOND);
      expect(new Set(kit.probes.map(({ name }) => name)).size).toBe(1_000);
      const seconds = Array.from({ length: 30 }, (_, second) => {
        return kit.probes.filter(({ atMs }) => Math.floor(atMs / SECOND) === second).length;
      });
      expect(Math.max(...seconds)).toBeLessThan(50); // 33 are even

      const busy = new Set<string>();
      kit.script.probe = (name, timeoutMs) => {
        expect(busy.has(name), `${name} is probed twice at once`).toBe(false);
        busy.add(name);
        return new Promise((_, reject) =>
          setTimeout(() => {
            busy.delete(name);
            reject(timedOut());
          }, timeoutMs),
        );
      };
      kit.script.most = 0;
      await vi.advanceTimersByTimeAsync(300 * SECOND);
      expect(kit.script.most).toBe(64);
      await kit.stop();
    },
  );
});

describe('with a breaker', () => {
  const config = { circuitBreaker: { enabled: true, failureThreshold: 3, timeout: '60s' }, unhealthyThreshold: 5 };
  const dispatchOf = (core: Core) => {
    let sent = 0;
    const dispatch = core.hooks.wrapDispatch.call(async () => {
      sent++;
      return undefined as never;
    });
    return {
      call: async () => dispatch({ target: { backend: 'a' } } as CallRecord['call']),
      sent: () => sent,
    };
  };

  it('no call is checked unless it is enabled', async () => {
    expect((await watching()).core.hooks.wrapDispatch.tapped()).toBe(false);
  });

  const breakerOf = (kit: Awaited<ReturnType<typeof watching>>) => kit.judged.get('a')?.breaker?.state;

  proves(
    'choice.health.breaker-refusal',
    'failed calls of several callers open it, and then no calls are sent',
    async () => {
      const kit = await watching(config);
      const { call, sent } = dispatchOf(kit.core);
      kit.add();
      kit.tell('a', 'status', 'ready');
      await call();
      await vi.advanceTimersByTimeAsync(2 * SECOND);
      kit.timeOut(ADA, BOB, EVE);
      await expect(call()).rejects.toMatchObject({
        code: 'BACKEND_CIRCUIT_OPEN',
        message: 'backend "a" gets no calls: its circuit breaker is open, recovery is tested in 60 s',
      });
      expect(sent()).toBe(1);
      expect(kit.judged.get('a')).toMatchObject({ status: 'unhealthy', breaker: { state: 'open' } });
      kit.settle({}); // the late end of an earlier call
      kit.tell('a', 'status', 'ready');
      expect(breakerOf(kit)).toBe('open');
      expect(kit.probes).toHaveLength(0);
    },
  );

  proves(
    'vmcp.operational.circuit-breaker-failure-threshold',
    'it opens at the fifth failed call by default, else at the configured one',
    async () => {
      for (const [given, needed] of [
        [{}, 5],
        [{ failureThreshold: 3 }, 3],
      ] as const) {
        const kit = await watching({ circuitBreaker: { enabled: true, ...given }, unhealthyThreshold: 9 });
        kit.add();
        kit.tell('a', 'status', 'ready');
        await vi.advanceTimersByTimeAsync(2 * SECOND);
        const callers = Array.from({ length: needed }, (_, n) => ({ ...ADA, subject: `caller-${n}` }));
        kit.timeOut(...callers.slice(1));
        expect(breakerOf(kit)).toBe('closed');
        kit.timeOut(...callers.slice(0, 1));
        expect(breakerOf(kit)).toBe('open');
      }
    },
  );

  proves(
    'choice.health.breaker-callers',
    'failed calls of one caller do not open it while a probe or a call of another is answered',
    async () => {
      for (const failureThreshold of [1, 3]) {
        const kit = await watching({ circuitBreaker: { enabled: true, failureThreshold } });
        kit.add();
        kit.tell('a', 'status', 'ready');
        await vi.advanceTimersByTimeAsync(2 * SECOND);
        for (let n = 0; n < 20; n++) kit.timeOut(EVE);
        expect(breakerOf(kit)).toBe('closed');
        await vi.advanceTimersByTimeAsync(SECOND); // the probe
        expect(kit.probes).toHaveLength(1);
        kit.timeOut(EVE);
        kit.settle({}, 'a', ADA);
        kit.script.probe = failing();
        await vi.advanceTimersByTimeAsync(SECOND); // the answer to Ada deleted the failure before this probe
        expect(breakerOf(kit)).toBe(failureThreshold === 1 ? 'open' : 'closed');
      }
    },
  );

  proves('choice.health.breaker-callers', 'calls that fail while others are answered wait for a probe', async () => {
    const kit = await watching(config);
    kit.add();
    kit.tell('a', 'status', 'ready');
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    kit.settle({ startedMs: Date.now() - 20, durationMs: 10 }, 'a', ADA);
    kit.timeOut(ADA, BOB, EVE); // all sent before the call that was answered
    expect(breakerOf(kit)).toBe('closed');
    kit.script.probe = failing();
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(breakerOf(kit)).toBe('open');
  });

  proves('choice.health.breaker-callers', 'a failed probe confirms the calls of a single caller', async () => {
    const kit = await watching(config);
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.script.probe = failing();
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    kit.timeOut({}, {});
    expect(breakerOf(kit)).toBe('closed');
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.judged.get('a')).toMatchObject({ status: 'unhealthy', breaker: { state: 'open' } });
  });

  proves('choice.health.breaker-callers', 'anonymous clients of one address are one caller', async () => {
    const kit = await watching(config);
    kit.add();
    kit.tell('a', 'status', 'ready');
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    kit.timeOut({}, {}, {}, { address: '::ffff:127.0.0.1' });
    expect(breakerOf(kit)).toBe('closed');
    kit.timeOut({ address: '192.0.2.1' }, { address: '192.0.2.2' });
    expect(breakerOf(kit)).toBe('open');
  });

  proves('choice.health.breaker-transitions', 'one probe after its timeout opens or closes it', async () => {
    const kit = await watching(config);
    const { call } = dispatchOf(kit.core);
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.settle({ startedMs: Date.now(), durationMs: 0 });
    const failedNow = { outcome: 'fault', cause: timedOut(), startedMs: Date.now(), durationMs: 0 } as const;
    for (const from of [ADA, BOB, EVE]) kit.settle(failedNow, 'a', from);
    kit.script.probe = async () => {
      await new Promise((resolve) => setTimeout(resolve, SECOND));
      throw timedOut();
    };
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect(kit.probes.map(({ atMs }) => atMs)).toEqual([60 * SECOND]);
    expect(kit.judged.get('a')?.breaker?.state).toBe('half-open');
    await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('a probe is testing recovery') });
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.judged.get('a')?.breaker?.state).toBe('open');
    await vi.advanceTimersByTimeAsync(59 * SECOND);
    expect(kit.probes).toHaveLength(1);
    kit.script.probe = async () => 1;
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.probes).toHaveLength(2);
    expect(kit.judged.get('a')).toMatchObject({ status: 'degraded', breaker: { state: 'closed' } });
    await call();
    expect(
      kit.lines.filter(({ message }) => message.startsWith('circuit breaker')).map((line) => line.message),
    ).toEqual(['circuit breaker opened', 'circuit breaker closed']);
  });

  it('failed probes open it too, but refused credentials do not', async () => {
    const kit = await watching(config);
    kit.add();
    kit.tell('a', 'status', 'ready');
    kit.script.probe = failing(refused);
    for (let n = 0; n < 4; n++) await kit.round();
    expect(kit.judged.get('a')?.breaker?.state).toBe('closed');
    kit.script.probe = failing();
    for (let n = 0; n < 3; n++) await kit.round();
    expect(kit.judged.get('a')?.breaker?.state).toBe('open');
    kit.script.probe = failing(refused);
    const before = kit.probes.length;
    await vi.advanceTimersByTimeAsync(180 * SECOND); // an attempt without a result waits for the next probe
    expect(kit.probes.length - before).toBeLessThanOrEqual(6);
  });
});

describe('a backend that a gateway before this one handed over', () => {
  const before: BackendHealth = {
    status: 'degraded',
    consecutiveFailures: 2,
    checkedMs: 5,
    errorCategory: 'timeout',
    sinceMs: 3,
    breaker: { state: 'closed', sinceMs: 1 },
  };
  const config = { circuitBreaker: { enabled: true, failureThreshold: 3 } };

  proves('choice.reload.health-stays', 'keeps its health until a new signal', async () => {
    const kit = await watching();
    kit.tell('a', 'added', 'ready', undefined, { ...before, status: 'healthy', consecutiveFailures: 0 });
    kit.settle({});
    expect(kit.judged.size).toBe(0); // another success changes nothing
    kit.script.probe = failing();
    await kit.round();
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', sinceMs: 3, consecutiveFailures: 1 });
    expect(kit.lines.filter(({ message }) => message === 'backend health changed')).toEqual([]);
  });

  it('keeps its number of failures for status and breaker', async () => {
    const kit = await watching(config);
    kit.tell('a', 'added', 'ready', undefined, before);
    kit.script.probe = failing();
    kit.timeOut(ADA);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(kit.judged.get('a')).toMatchObject({ status: 'unhealthy', breaker: { state: 'open' } });
  });

  it('is checked again when it was unhealthy or its description changed', async () => {
    const kit = await watching(config);
    kit.tell('a', 'added', 'unknown', undefined, { ...before, status: 'unhealthy' });
    kit.tell('a', 'status', 'ready');
    expect(kit.judged.get('a')).toMatchObject({ status: 'healthy', consecutiveFailures: 0 });
  });
});
