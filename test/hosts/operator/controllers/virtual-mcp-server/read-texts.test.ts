import type { Api, KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { createContents } from '../../../../../hosts/operator/controllers/contents.ts';
import { readTexts } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-reports.ts';
import type { Caches, ReconcileContext } from '../../../../../hosts/operator/machinery/controller.ts';
import { reportAnnotation, shortHash } from '../../../../../hosts/vmcp/pod-report.ts';

const MAP = { namespace: 'team', name: 'tools-vmcp-report' };

describe('reading pod reports', () => {
  it('asks the API when an annotation of a pod changed or after five minutes, not when times alone changed', async () => {
    const current = { version: 1, material: 'ready', nowMs: 0 };
    let requests = 0;
    const object = (): KubeObject & { readonly data: Readonly<Record<string, string>> } => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        ...MAP,
        uid: 'u',
        resourceVersion: String(current.version),
        annotations: { [reportAnnotation('tools-0')]: shortHash(current.material), 'other.example/note': 'x' },
      },
      data: { 'tools-0': `report ${current.version}` },
    });
    const api = {
      get: async () => {
        requests += 1;
        return object();
      },
    } as unknown as Api;
    const caches = { of: () => ({ get: object }) } as unknown as Caches;
    const contents = createContents(api, caches);
    const read = () => readTexts(MAP, contents, { caches, now: () => current.nowMs } as ReconcileContext);

    expect(await read()).toEqual({ 'tools-0': 'report 1' });
    current.version = 2;
    expect(await read()).toEqual({ 'tools-0': 'report 1' });
    expect(requests).toBe(1);

    current.material = 'unavailable';
    expect(await read()).toEqual({ 'tools-0': 'report 2' });
    expect(requests).toBe(2);

    current.version = 3;
    current.nowMs = 300_000;
    expect(await read()).toEqual({ 'tools-0': 'report 3' });
    expect(requests).toBe(3);
  });
});
