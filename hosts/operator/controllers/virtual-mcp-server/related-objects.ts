import type { KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { typeOfKind } from '../../kinds/kind.ts';
import type { McpRemoteProxy } from '../../kinds/mcp-remote-proxy.ts';
import type { McpServer } from '../../kinds/mcp-server.ts';
import type { McpServerEntry } from '../../kinds/mcp-server-entry.ts';
import { virtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Caches } from '../../machinery/controller.ts';
import type { Related } from '../../resolve/related.ts';
import type { Contents } from '../contents.ts';
import { membersOf } from '../references.ts';
import { UNIQUE_INDEX, uniqueKey } from './unique-index.ts';

const TYPE = typeOfKind(virtualMcpServer);

/** What a VirtualMCPServer of a namespace can refer to, from the caches. */
export function relatedObjects(namespace: string, caches: Caches, contents: Contents): Related {
  return {
    get: <T extends KubeObject>(type: ResourceType<T>, name: string) => caches.of(type).get({ namespace, name }),
    members(group) {
      const members = membersOf({ namespace, name: group }, caches);
      const of = <T extends KubeObject>(kind: string): readonly T[] =>
        members.filter((member) => member.kind === kind).map(({ object }) => object as T);
      return {
        servers: of<McpServer>('MCPServer'),
        entries: of<McpServerEntry>('MCPServerEntry'),
        proxies: of<McpRemoteProxy>('MCPRemoteProxy'),
      };
    },
    sharing: (field, value) => caches.of(TYPE).byIndex(UNIQUE_INDEX, uniqueKey(namespace, field, value)),
    configMap: (name) => contents.configMap({ namespace, name }),
    secret: (name) => contents.secret({ namespace, name }),
  };
}
