import type { KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import { createRememberedResolutions } from '../../../../../hosts/operator/controllers/virtual-mcp-server/remembered-resolution.ts';
import type { VirtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import type { Caches } from '../../../../../hosts/operator/machinery/controller.ts';
import { services } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import type { Related } from '../../../../../hosts/operator/resolve/related.ts';
import { resolutionOf, resolved } from '../../../../support/resolved-server.ts';

it('a server is resolved again only when it or an object that was looked at has changed, also a missing one', async () => {
  const versions = new Map<string, string>();
  const object = (kind: string, name: string): KubeObject | undefined => {
    const resourceVersion = versions.get(`${kind}/${name}`);
    return resourceVersion === undefined
      ? undefined
      : { apiVersion: 'v1', kind, metadata: { name, namespace: 'team', uid: 'u', resourceVersion } };
  };
  const caches = {
    of: ({ kind }: ResourceType) => ({ get: ({ name }: { name: string }) => object(kind, name) }),
  } as unknown as Caches;
  const related = {
    get: ({ kind }: ResourceType, name: string) => object(kind, name),
    members: () => ({ servers: [], proxies: [], entries: [object('MCPServerEntry', 'e')].filter((each) => each) }),
    configMap: async () => undefined,
    secret: async () => ({}),
  } as unknown as Related;
  const resolutions = createRememberedResolutions();
  let made = 0;
  const resolve = (server: VirtualMcpServer) =>
    resolutions.resolve(server, related, caches, async (noted) => {
      made++;
      noted.get(services, 'x');
      noted.members('tools');
      await noted.configMap('ca');
      await noted.secret('key');
      return resolutionOf(resolved(), server);
    });
  const first = await resolve(server(1));
  expect(await resolve(server(1))).toBe(first);
  expect(made).toBe(1);
  for (const changed of ['Service/x', 'MCPServerEntry/e', 'ConfigMap/ca', 'Secret/key', 'Secret/key']) {
    versions.set(changed, `${made}`);
    const before = made;
    await resolve(server(1));
    await resolve(server(1));
    expect([changed, made]).toEqual([changed, before + 1]);
  }
  versions.set('Secret/other', '1');
  await resolve(server(1));
  expect(made).toBe(6);
  await resolve(server(2));
  expect(made).toBe(7);
  resolutions.forget({ namespace: 'team', name: 'a' });
  await resolve(server(2));
  expect(made).toBe(8);
});

function server(generation: number): VirtualMcpServer {
  return {
    apiVersion: 'toolmgr.dev/v1beta1',
    kind: 'VirtualMCPServer',
    metadata: { name: 'a', namespace: 'team', uid: 'u', generation },
    spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' } },
  };
}
