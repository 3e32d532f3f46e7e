import { beforeAll, describe, expect } from 'vitest';
import type { RequirementId } from '../../../requirements.ts';
import { missingKube } from '../../../support/kube.ts';
import { proves } from '../../../support/proves.ts';
import { type AdmissionServer, admissionServer } from './admission-server.ts';
import { server } from './server-cases.ts';

const missing = missingKube();
const onServer = missing === undefined ? proves : proves.skipIf(true, missing);

describe.skipIf(missing)(`the status of a VirtualMCPServer${missing === undefined ? '' : ` (${missing})`}`, () => {
  let api: AdmissionServer;
  beforeAll(async () => {
    api = await admissionServer();
    const { status } = await api.create('VirtualMCPServer', server(), 'fieldValidation=Strict');
    expect(status).toBe(201);
  }, 300_000);

  const statusLines = [
    ...['vmcp.status.phase', 'vmcp.status.message', 'vmcp.status.url', 'vmcp.status.observed-generation'],
    ...['vmcp.status.conditions', 'vmcp.condition.type', 'vmcp.condition.status', 'vmcp.condition.reason'],
    ...['vmcp.condition.message', 'vmcp.condition.last-transition-time', 'vmcp.condition.observed-generation'],
  ] as RequirementId[];
  onServer(
    statusLines,
    'takes a status that the contract allows, and no other',
    async () => {
      const write = (changes: object) =>
        api.kube.request(
          'PATCH',
          `${api.pathOf('VirtualMCPServer')}/a/status?fieldValidation=Strict`,
          { status: changes },
          'application/merge-patch+json',
        );
      const condition = {
        ...{ type: 'example.com/Ready', status: 'True', reason: 'AllReady', message: '' },
        ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
      };
      const backend = {
        ...{
          name: 'a',
          url: 'http://a',
          status: 'ready',
          message: 'm',
          authType: 'header_injection',
          authConfigRef: 'c',
        },
        ...{ circuitBreakerState: 'half-open', circuitLastChanged: '2026-01-01T00:00:00Z', consecutiveFailures: 0 },
        ...{ lastHealthCheck: '2026-01-01T00:00:00Z', mcpRevision: '2026-07-28' },
      };
      const whole = {
        ...{ phase: 'Ready', message: 'm', url: 'http://vmcp-a.default.svc.cluster.local:4483', backendCount: 1 },
        ...{ observedGeneration: 1, authzConfigHash: 'a', oidcConfigHash: 'b', telemetryConfigHash: 'c' },
        ...{ conditions: [condition], discoveredBackends: [backend] },
      };
      expect((await write(whole)).body).toMatchObject({ status: whole });
      const refused: readonly (readonly [object, string])[] = [
        [{ phase: 'Running' }, 'status.phase'],
        [{ backendCount: 1.5 }, 'status.backendCount'],
        [{ conditions: [{ ...condition, type: 'not ready' }] }, 'status.conditions[0].type'],
        [{ conditions: [{ ...condition, type: 'A'.repeat(317) }] }, 'status.conditions[0].type'],
        [{ conditions: [{ ...condition, status: 'Yes' }] }, 'status.conditions[0].status'],
        [{ conditions: [{ ...condition, reason: '' }] }, 'status.conditions[0].reason'],
        [{ conditions: [{ ...condition, reason: 'A'.repeat(1025) }] }, 'status.conditions[0].reason'],
        [{ conditions: [{ ...condition, message: undefined }] }, 'status.conditions[0].message'],
        [{ conditions: [{ ...condition, message: 'a'.repeat(32_769) }] }, 'status.conditions[0].message'],
        [{ conditions: [{ ...condition, lastTransitionTime: 'now' }] }, 'status.conditions[0].lastTransitionTime'],
        [{ conditions: [{ ...condition, observedGeneration: -1 }] }, 'status.conditions[0].observedGeneration'],
        [{ conditions: [condition, condition] }, 'status.conditions[1]'],
        [{ discoveredBackends: [{ url: 'a' }] }, 'status.discoveredBackends[0].name'],
        [{ discoveredBackends: [{ ...backend, status: 'up' }] }, 'status.discoveredBackends[0].status'],
        [
          { discoveredBackends: [{ ...backend, mcpRevision: '2024-11-05' }] },
          'status.discoveredBackends[0].mcpRevision',
        ],
        [
          { discoveredBackends: [{ ...backend, circuitBreakerState: 'broken' }] },
          'status.discoveredBackends[0].circuitBreakerState',
        ],
      ];
      for (const [changes, field] of refused) {
        const answer = await write(changes);
        const { details } = answer.body as { details?: { causes?: { field: string }[] } };
        expect([answer.status, details?.causes?.map((each) => each.field)]).toEqual([
          422,
          expect.arrayContaining([expect.stringContaining(field)]),
        ]);
      }
    },
    60_000,
  );

  onServer(
    'vmcp.identity.short-names',
    'shows the columns of servers by their short names',
    async () => {
      const get = (...args: string[]) => api.kube.kubectl(['--namespace', api.namespace, 'get', ...args]);
      const table = await get('vmcp', 'a');
      expect(table.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', 'PHASE', 'URL', 'BACKENDS', 'AGE', 'READY']);
      expect(await get('virtualmcp', '-o', 'name')).toContain('virtualmcpserver.toolmgr.dev/a');
      expect(await get('toolmgr', '-o', 'name')).toContain('virtualmcpserver.toolmgr.dev/a');
    },
    60_000,
  );
});
