import { describe, expect, it } from 'vitest';
import {
  type DiscoveredBackend,
  joinReports,
  MAX_REPORT,
  readReport,
} from '../../../../../hosts/operator/controllers/virtual-mcp-server/join-reports.ts';
import { reportsOf } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-reports.ts';
import type { Pod } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import type { PodReport } from '../../../../../hosts/vmcp/pod-report.ts';
import { proves } from '../../../../support/proves.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const SEARCH: DiscoveredBackend = { name: 'search', url: 'http://search/mcp', authType: 'aws_sts', status: 'unknown' };

describe('reports of pods', () => {
  it.each<[string, readonly string[], string]>([
    ['all say ready', ['ready', 'ready'], 'ready'],
    ['all say unavailable', ['unavailable', 'unavailable'], 'unavailable'],
    ['they differ', ['ready', 'unavailable'], 'degraded'],
    ['one has not probed yet', ['unknown', 'unavailable'], 'unavailable'],
    ['none has probed', ['unknown', 'unknown'], 'unknown'],
    ['both states are routable', ['ready', 'unauthenticated'], 'unauthenticated'],
  ])('give one state when %s', (_what, states, expected) => {
    const reports = states.map((status) => reported({ status: status as 'ready' }));
    expect(joinReports([SEARCH], reports, NOW)[0]?.status).toBe(expected);
  });

  proves(
    [
      'vmcp.status.discovered-backends',
      'vmcp.discovered-backend.name',
      'vmcp.discovered-backend.url',
      'vmcp.discovered-backend.status',
      'vmcp.discovered-backend.message',
      'vmcp.discovered-backend.auth-type',
      'vmcp.discovered-backend.auth-config-ref',
      'vmcp.discovered-backend.circuit-breaker-state',
      'vmcp.discovered-backend.circuit-last-changed',
      'vmcp.discovered-backend.consecutive-failures',
      'vmcp.discovered-backend.last-health-check',
      'vmcp.discovered-backend.mcp-revision',
    ],
    'give every field of a backend: the worst breaker, the most failures, the latest times',
    () => {
      const backend = { ...SEARCH, authConfigRef: 'aws' };
      const good = reported({ status: 'ready', circuitBreakerState: 'closed', consecutiveFailures: 0 });
      const bad = reported({
        status: 'unavailable',
        message: 'connection failed',
        circuitBreakerState: 'open',
        circuitLastChanged: '2026-01-01T11:00:00.123Z',
        consecutiveFailures: 4,
        lastHealthCheck: '2026-01-01T11:59:00+00:00',
        mcpRevision: '2025-11-25',
      });
      expect(joinReports([backend], [good, bad], NOW)).toEqual([
        {
          name: 'search',
          url: 'http://search/mcp',
          authType: 'aws_sts',
          authConfigRef: 'aws',
          status: 'degraded',
          message: '1 of 2 pods: connection failed',
          circuitBreakerState: 'open',
          circuitLastChanged: '2026-01-01T11:00:00Z',
          consecutiveFailures: 4,
          lastHealthCheck: '2026-01-01T11:59:00Z',
          mcpRevision: '2025-11-25',
        },
      ]);
      const [healthy] = joinReports([backend], [good], NOW);
      expect(healthy).toMatchObject({ status: 'ready', consecutiveFailures: 0 });
      expect(healthy).not.toHaveProperty('message');
      expect(joinReports([backend], [], NOW)).toEqual([backend]);
    },
  );

  it('never add a backend, and change neither its URL nor its authentication', () => {
    const report: PodReport = {
      ...reported({ status: 'ready', url: 'http://evil', authType: 'none', authConfigRef: 'evil' }),
    };
    const more = { ...report, backends: [...report.backends, { name: 'evil', status: 'ready' as const }] };
    expect(joinReports([SEARCH], [more], NOW)).toEqual([{ ...SEARCH, status: 'ready' }]);
  });

  it('cannot fill the status: texts are cut, and times and numbers are those that the API accepts', () => {
    const [backend] = joinReports(
      [SEARCH],
      [
        reported({
          status: 'unavailable',
          message: `\u001b[31m\u202e${'x'.repeat(10_000)}`,
          consecutiveFailures: Number.MAX_SAFE_INTEGER,
          lastHealthCheck: '9999-12-31T00:00:00Z',
          circuitLastChanged: 'yesterday',
          mcpRevision: '<script>',
        }),
      ],
      NOW,
    );
    expect(backend?.message?.length).toBeLessThan(600);
    expect(backend?.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(backend).toMatchObject({ consecutiveFailures: 2 ** 31 - 1 });
    for (const key of ['lastHealthCheck', 'circuitLastChanged', 'mcpRevision']) expect(backend).not.toHaveProperty(key);
  });

  it('a backend that is listed twice by one pod counts once', () => {
    const one = reported({ status: 'ready' });
    const twice = { ...one, backends: [...one.backends, { name: 'search', status: 'unavailable' as const }] };
    expect(joinReports([SEARCH], [twice], NOW)[0]?.status).toBe('ready');
  });

  it.each([
    ['no JSON', '{'],
    ['another shape', '{"backends":1}'],
    ['an unknown state', JSON.stringify({ ...reported({ status: 'ready' }), backends: [{ name: 'a', status: 'x' }] })],
    ['1 MB', JSON.stringify({ ...reported({ status: 'ready' }), filler: 'x'.repeat(1_000_000) })],
    ['deep nesting', '['.repeat(MAX_REPORT)],
  ])('a report with %s is ignored', (_what, text) => {
    expect(readReport(text)).toBeUndefined();
  });

  it('count only of ready pods that loaded the wanted configuration', () => {
    const text = (checksum: string) => JSON.stringify(reported({ status: 'ready' }, checksum));
    const texts = { new: text('c2'), old: text('c1'), lies: text('c1'), starting: text('c2'), gone: text('c2') };
    const pods = [
      pod('new', 'c2'),
      pod('old', 'c1'),
      pod('lies', 'c2'),
      pod('starting', 'c2', false),
      pod('toString', 'c2'),
    ];
    expect(reportsOf(texts, pods, 'c2')).toHaveLength(1);
    expect(reportsOf(texts, pods, undefined)).toHaveLength(2);
  });
});

function reported(backend: Omit<PodReport['backends'][number], 'name'>, configChecksum = 'c1'): PodReport {
  return { configChecksum, reportedAt: '2026-01-01T12:00:00Z', backends: [{ name: 'search', ...backend }] };
}

function pod(name: string, checksum: string, isReady = true): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations: { 'toolmgr.dev/config-checksum': checksum } },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}
