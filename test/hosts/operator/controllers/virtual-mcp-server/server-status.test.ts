import { describe, expect, it } from 'vitest';
import { createReportCleaner } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-reports.ts';
import {
  isOutdated,
  type ServerStatus,
  statusOf,
} from '../../../../../hosts/operator/controllers/virtual-mcp-server/server-status.ts';
import type { VirtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import type { ReconcileContext } from '../../../../../hosts/operator/machinery/controller.ts';
import type { Pod } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import type { Resolution } from '../../../../../hosts/operator/resolve/resolution.ts';
import { type PodReport, reportAnnotation } from '../../../../../hosts/vmcp/pod-report.ts';
import { proves } from '../../../../support/proves.ts';
import { resolutionOf, resolved } from '../../../../support/resolved-server.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const SERVER: VirtualMcpServer = {
  apiVersion: 'toolmgr.dev/v1beta1',
  kind: 'VirtualMCPServer',
  metadata: { name: 'a', namespace: 'team', generation: 3 },
  spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' } },
};
const PODS = { ready: 1, current: 1, isScaledToZero: false };

describe('the status', () => {
  proves(
    ['vmcp.status.authz-config-hash', 'vmcp.status.oidc-config-hash', 'vmcp.status.telemetry-config-hash'],
    'has the hashes of referenced configurations, and only those',
    () => {
      expect(statusFrom({ hashes: { oidcConfigHash: 'o' } })).toMatchObject({ oidcConfigHash: 'o' });
      const all = { oidcConfigHash: 'o', authzConfigHash: 'a', telemetryConfigHash: 't' };
      expect(statusFrom({ hashes: all })).toMatchObject(all);
      expect(Object.keys(statusFrom({})).filter((key) => key.endsWith('Hash'))).toEqual([]);
    },
  );

  it('is written again for a change, but not for times of health checks that are less than 5 minutes behind', () => {
    const at = (time: string, status: 'ready' | 'unavailable' = 'ready') => statusFrom({}, [report(status, time)]);
    const before = at('2026-01-01T11:50:00Z');
    expect(isOutdated(before, at('2026-01-01T11:50:00Z'))).toBe(false);
    expect(isOutdated(before, at('2026-01-01T11:54:59Z'))).toBe(false);
    expect(isOutdated(before, at('2026-01-01T11:55:01Z'))).toBe(true);
    expect(isOutdated(before, at('2026-01-01T11:50:30Z', 'unavailable'))).toBe(true);
    expect(isOutdated(undefined, before)).toBe(true);
    const turned = { ...before, conditions: [...(before.conditions ?? [])].reverse() };
    expect(isOutdated(turned, before)).toBe(false);
  });

  it('keeps what is known of backends until pods with the new configuration report, and nothing without pods', () => {
    const known = statusFrom({}, [report('ready', '2026-01-01T11:50:00Z')]);
    const later = (change: Partial<Parameters<typeof statusOf>[0]>): ServerStatus =>
      statusOf({ ...inputOf({}, []), server: { ...SERVER, status: known }, ...change });
    expect(later({}).discoveredBackends).toMatchObject([{ name: 'search', status: 'ready' }]);
    expect(later({ pods: { ...PODS, ready: 0 } })).toMatchObject({
      phase: 'Pending',
      backendCount: 0,
      discoveredBackends: [{ name: 'search', status: 'unknown' }],
    });
  });

  it('shows backends that are left out with the reason', () => {
    const effective = [{ name: 'search', authConfigRef: 'aws', problem: 'the secret is missing' }];
    expect(statusFrom({ effective })).toMatchObject({
      phase: 'Degraded',
      discoveredBackends: [
        { name: 'search', status: 'unavailable', message: 'the secret is missing', authConfigRef: 'aws' },
      ],
    });
  });

  it('changes the time of a condition only when its status changes', () => {
    const first = statusFrom({});
    const later = statusOf({
      ...inputOf({}, [report('ready', '2026-01-01T12:59:00Z')]),
      server: { ...SERVER, status: first },
      now: NOW + 3_600_000,
    });
    const time = (status: ServerStatus, type: string) =>
      status.conditions?.find((condition) => condition.type === type)?.lastTransitionTime;
    expect([time(first, 'Ready'), time(later, 'Ready')]).toEqual(['2026-01-01T12:00:00Z', '2026-01-01T13:00:00Z']);
    expect(time(later, 'GroupRefValidated')).toBe('2026-01-01T12:00:00Z');
  });
});

it('reports of pods that are gone are removed after a minute, and one of a new pod is kept', async () => {
  const patches: unknown[] = [];
  const clock = { now: 0 };
  const api = { patch: async (...args: unknown[]) => void patches.push(args[2]) };
  const context = { api, now: () => clock.now } as unknown as ReconcileContext;
  const cleaner = createReportCleaner();
  const map = { namespace: 'team', name: 'a-vmcp-report' };
  const texts = { old: '{}', fresh: '{}', constructor: '{}' };
  const clean = (...names: string[]) => cleaner.clean(map, texts, names.map(podNamed), context);
  expect(await clean('old', 'fresh', 'constructor')).toBeUndefined();
  expect(await clean('constructor')).toBe(60_000);
  clock.now = 59_000;
  expect(await clean('fresh', 'constructor')).toBe(1_000);
  expect(patches).toEqual([]);
  clock.now = 60_000;
  expect(await clean('fresh', 'constructor')).toBeUndefined();
  expect(patches).toEqual([{ metadata: { annotations: { [reportAnnotation('old')]: null } }, data: { old: null } }]);
});

function inputOf(change: Partial<Resolution>, reports: readonly PodReport[]): Parameters<typeof statusOf>[0] {
  const resolution = { ...resolutionOf(resolved(), SERVER), ...change };
  return {
    server: SERVER,
    key: { namespace: 'team', name: 'a' },
    ...{ resolution, reports, pods: PODS, conditions: [], now: NOW },
  };
}

function statusFrom(change: Partial<Resolution>, reports: readonly PodReport[] = []): ServerStatus {
  return statusOf(inputOf(change, reports));
}

function report(status: 'ready' | 'unavailable', lastHealthCheck: string): PodReport {
  const reportedAt = '2026-01-01T12:00:00Z';
  return { configChecksum: 'c1', reportedAt, backends: [{ name: 'search', status, lastHealthCheck }] };
}

function podNamed(name: string): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
}
