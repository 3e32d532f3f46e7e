import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import { labelsOf } from '../../../../hosts/operator/controllers/virtual-mcp-server/object-names.ts';
import { APPLIED_ANNOTATION, MANAGED_INFORMERS } from '../../../../hosts/operator/objects/managed-informers.ts';
import { controllerOf } from '../../../../hosts/operator/objects/owned-objects.ts';
import { reportAnnotation } from '../../../../hosts/vmcp/pod-report.ts';

it.each(['ConfigMap', 'Secret'])('metadata of a %s cannot fill the memory of the operator', (kind) => {
  const followed = MANAGED_INFORMERS.find(({ type }) => type.kind === kind);
  const many = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
  const owner = { apiVersion: 'toolmgr.dev/v1beta1', kind: 'VirtualMCPServer', name: 'a', uid: 'u' };
  const hostile: KubeObject = {
    apiVersion: 'v1',
    kind,
    metadata: {
      ...{ name: 'a', namespace: 'team', uid: 'u1', resourceVersion: '7', deletionTimestamp: '2026-01-01T00:00:00Z' },
      labels: { ...Object.fromEntries(many.map((key) => [key, 'x'.repeat(63)])), ...labelsOf('a') },
      annotations: {
        [APPLIED_ANNOTATION]: 'f'.repeat(64),
        note: 'x'.repeat(250_000),
        [reportAnnotation('pod')]: 'e'.repeat(16),
        [reportAnnotation('other')]: 'x'.repeat(9_000),
      },
      finalizers: many.map((key) => `example.com/${key}`),
      ownerReferences: [...many.map((name) => ({ ...owner, name })), { ...owner, controller: true }],
    },
  };
  const kept = followed?.strip?.(hostile) as KubeObject;
  expect(JSON.stringify(kept).length).toBeLessThan(1_000);
  // labels that are applied are compared
  expect(kept.metadata.labels).toEqual(labelsOf('a'));
  expect(kept.metadata).toMatchObject({ name: 'a', namespace: 'team', uid: 'u1', resourceVersion: '7' });
  expect(kept.metadata.deletionTimestamp).toBeDefined();
  expect(kept.metadata.annotations?.[APPLIED_ANNOTATION]).toBe('f'.repeat(64));
  expect(kept.metadata.annotations?.[reportAnnotation('pod')]).toBe('e'.repeat(16));
  expect(controllerOf(kept)?.name).toBe('a');
});
