import type { BackendHealth, BackendState } from '@toolmgr/core';
import { type Api, ApiError } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it, vi } from 'vitest';
import { drain } from '../../../../hosts/vmcp/cluster/drain.ts';
import { publishReports } from '../../../../hosts/vmcp/cluster/publish-reports.ts';
import { materialOf, type ReportedGateway, reportOf } from '../../../../hosts/vmcp/cluster/report-of.ts';
import type { PodReport } from '../../../../hosts/vmcp/pod-report.ts';
import { pluginCore } from '../../../support/plugin-core.ts';

const NOW = Date.UTC(2026, 0, 1);

function state(more: Partial<BackendState> = {}, health?: Partial<NonNullable<BackendState['health']>>): BackendState {
  return {
    backend: { name: 'far', transport: 'streamable-http', url: 'https://user:pass@far/mcp?key=secret#x' },
    ...{ status: 'ready', era: undefined, cause: undefined, sinceMs: 0, hello: undefined },
    ...more,
    ...(health === undefined
      ? {}
      : {
          health: {
            ...{ status: 'healthy', consecutiveFailures: 0, checkedMs: NOW, errorCategory: undefined, sinceMs: NOW },
            ...health,
          },
        }),
  };
}

function gatewayOf(...states: readonly BackendState[]): ReportedGateway {
  return {
    backends: () => states,
    sources: () => [{ version: 'document' }],
    strategyOf: () => 'header_injection',
    catalog: () => {
      throw new Error('names collide');
    },
  };
}

const only = (one: BackendState) => reportOf(gatewayOf(one), 'config', NOW).backends[0];

describe('the report of a pod', () => {
  it('has the health of the monitor in the words of the contract', () => {
    const words = (status: BackendHealth['status']) => only(state({}, { status }))?.status;
    expect((['healthy', 'degraded', 'unhealthy', 'unauthenticated', 'unknown'] as const).map(words)).toEqual([
      'ready',
      'degraded',
      'unavailable',
      'unauthenticated',
      'unknown',
    ]);
    const without = (status: BackendState['status']) => only(state({ status }))?.status;
    expect((['ready', 'unavailable', 'unauthenticated', 'unknown'] as const).map(without)).toEqual([
      'ready',
      'unavailable',
      'unauthenticated',
      'unknown',
    ]);
  });

  it('has no text of a backend, no user and no query', () => {
    const cause = { category: 'tls', message: 'certificate of 10.0.0.7 for secret.example' };
    expect(only(state({ status: 'unavailable', cause }))).toEqual({
      name: 'far',
      url: 'https://far/mcp',
      status: 'unavailable',
      message: 'connection failed',
      authType: 'header_injection',
      consecutiveFailures: 0,
    });
    const messages = [
      state({ status: 'unavailable', cause: { category: 'credentials', message: 'the secret s has no key k' } }),
      state({}, { status: 'unhealthy', errorCategory: 'timeout' }),
      state({}, { status: 'unhealthy', errorCategory: 'connection_failed', breaker: { state: 'open', sinceMs: NOW } }),
      state({}, { status: 'unhealthy', errorCategory: 'a new category' }),
      state({ needsCaller: true, status: 'unauthenticated', cause: { category: 'unauthenticated', message: 'x' } }),
      state({}, {}),
    ].map((one) => only(one)?.message);
    expect(messages).toEqual([
      'credentials not available',
      'health check timed out',
      'circuit open',
      'backend unavailable',
      'its lists are read with the credentials of each caller',
      undefined,
    ]);
  });

  it('changes materially with a status, and not with times and counts of failures', () => {
    const of = (one: BackendState, nowMs = NOW) => materialOf(reportOf(gatewayOf(one), 'config', nowMs));
    const before = of(state({}, { status: 'unhealthy', consecutiveFailures: 3 }));
    expect(of(state({}, { status: 'unhealthy', consecutiveFailures: 4, checkedMs: NOW + 1 }), NOW + 1)).toBe(before);
    expect(of(state({}, { status: 'healthy' }))).not.toBe(before);
  });
});

describe('publishing reports', () => {
  const base: PodReport = { configChecksum: 'c', reportedAt: 'at the start', backends: [] };

  it('writes a change at once, an unchanged report once per interval, and nothing more', async () => {
    vi.useFakeTimers();
    const written: unknown[] = [];
    const api: Pick<Api, 'apply'> = {
      apply: async (_, object, options) => {
        written.push([object.metadata.name, (object as { data?: unknown }).data, options]);
        return object as never;
      },
    };
    const stop = new AbortController();
    let current = base;
    const publishing = publishReports({
      ...{ api, namespace: 'team', configMap: 'report', pod: 'pod-1', intervalMs: 30_000 },
      ...{ report: () => current, log: pluginCore().log, signal: stop.signal },
    });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(written).toEqual([['report', { 'pod-1': JSON.stringify(base) }, { manager: 'pod-1' }]]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(written).toHaveLength(2);
    current = { ...base, backendsChecksum: 'new' };
    await vi.advanceTimersByTimeAsync(2_000);
    expect(written).toHaveLength(3);
    stop.abort();
    await publishing;
    expect(written.at(-1)).toEqual(['report', undefined, { manager: 'pod-1' }]);
    vi.useRealTimers();
  });

  it('tries again with growing pauses while the API is away, logs it once, and ends in time', async () => {
    vi.useFakeTimers();
    let tries = 0;
    const api: Pick<Api, 'apply'> = {
      apply: async () => {
        tries += 1;
        throw new ApiError(0, 'Unreachable', 'connection refused');
      },
    };
    const { log, lines } = pluginCore();
    const stop = new AbortController();
    const publishing = publishReports({
      ...{ api, namespace: 'team', configMap: 'report', pod: 'pod-1', intervalMs: 30_000 },
      ...{ report: () => base, log, signal: stop.signal },
    });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(20);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    stop.abort();
    await publishing;
    vi.useRealTimers();
  });
});

describe('draining', () => {
  it('ends after a pause without requests and calls, and at the latest after its time', async () => {
    let requests = 0;
    let callsInFlight = 1;
    let ended = 0;
    const gateway = {
      counts: () => ({ links: 0, processes: 0, callsInFlight, sessions: 0, streams: 0, parked: 0, bytes: 0 }),
      endStreams() {
        ended += 1;
      },
    };
    const served = { closeAfterResponses: () => () => requests };
    const busy = setInterval(() => {
      requests += 1;
    }, 20);
    const startedMs = performance.now();
    const draining = drain({ gateway, served, ms: 60_000 });
    setTimeout(() => clearInterval(busy), 300);
    setTimeout(() => {
      callsInFlight = 0;
    }, 600);
    await draining;
    expect(performance.now() - startedMs).toBeGreaterThan(2_000);
    expect(ended).toBeGreaterThan(10);
    callsInFlight = 1;
    const againMs = performance.now();
    await drain({ gateway, served, ms: 300 });
    expect(performance.now() - againMs).toBeLessThan(10_000);
  });
});
