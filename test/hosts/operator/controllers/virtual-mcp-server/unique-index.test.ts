import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import {
  UNIQUE_INDEX,
  uniqueInformer,
  uniqueKey,
  uniqueWatch,
} from '../../../../../hosts/operator/controllers/virtual-mcp-server/unique-index.ts';
import type { Caches } from '../../../../../hosts/operator/machinery/controller.ts';

const server = (name: string, audience: string, namespace = 'team') =>
  ({
    metadata: { name, namespace },
    spec: { incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'company', audience } } },
  }) as unknown as KubeObject;

it('a server that leaves an audience concerns the others with it, in its namespace only', () => {
  const all = [server('a', 'x'), server('b', 'x'), server('c', 'y'), server('d', 'x', 'other')];
  const valuesOf = (each: KubeObject) => [...(uniqueInformer.indexes?.[UNIQUE_INDEX]?.(each) ?? [])];
  const caches = {
    of: () => ({ byIndex: (_: string, value: string) => all.filter((each) => valuesOf(each).includes(value)) }),
  } as unknown as Caches;
  expect(valuesOf(server('a', 'x'))).toEqual([uniqueKey('team', 'audience', 'x')]);
  expect([...uniqueWatch.keysOf(server('a', 'x'), caches)]).toEqual([{ namespace: 'team', name: 'b' }]);
  expect([...uniqueWatch.keysOf(server('c', 'y'), caches)]).toEqual([]);
  const broken = { metadata: { name: 'e', namespace: 'team' }, spec: { incomingAuth: { type: 'oidc' } } };
  expect([...uniqueWatch.keysOf(broken as unknown as KubeObject, caches)]).toEqual([]);
});
