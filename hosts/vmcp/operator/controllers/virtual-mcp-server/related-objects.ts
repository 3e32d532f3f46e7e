import type { KubeObject, Resource, ResourceType } from '@toolmgr/plugins/kubernetes';
import type { Caches } from '../../machinery/controller.ts';
import type { Related } from '../../resolve/related.ts';
import type { Contents } from '../contents.ts';
import { membersOf } from '../references.ts';

/** What a VirtualMCPServer of a namespace can refer to, from the caches. */
export function relatedObjects(namespace: string, caches: Caches, contents: Contents): Related {
  return {
    get: <T extends KubeObject>(type: ResourceType<T>, name: string) => caches.of(type).get({ namespace, name }),
    members(group) {
      const members = membersOf({ namespace, name: group }, caches);
      const of = (kind: string): readonly Resource[] =>
        members.filter((member) => member.kind === kind).map(({ object }) => object as Resource);
      return { servers: of('MCPServer'), entries: of('MCPServerEntry'), proxies: of('MCPRemoteProxy') };
    },
    configMap: (name) => contents.configMap({ namespace, name }),
    secret: (name) => contents.secret({ namespace, name }),
  };
}
