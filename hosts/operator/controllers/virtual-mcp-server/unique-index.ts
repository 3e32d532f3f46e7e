import { type KubeObject, keyOf, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { typeOfKind } from '../../kinds/kind.ts';
import { virtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Caches, InformerSpec, Watched } from '../../machinery/controller.ts';
import { type UniqueField, uniqueValuesOf } from '../../resolve/unique-values.ts';

const TYPE = typeOfKind(virtualMcpServer);

/** Index of VirtualMCPServers by namespace, field and value. */
export const UNIQUE_INDEX = 'unique-values';

/** Value of the index. */
export function uniqueKey(namespace: string, field: UniqueField, value: string): string {
  return `${namespace}/${field}/${value}`;
}

export const uniqueInformer = { type: TYPE, indexes: { [UNIQUE_INDEX]: keysIn } } as unknown as InformerSpec;

/** A server that changes or is deleted concerns those that share a value with it. */
export const uniqueWatch: Watched = {
  type: TYPE,
  *keysOf(server: KubeObject, caches: Caches): Iterable<ObjectKey> {
    const own = server.metadata.name;
    for (const value of keysIn(server)) {
      for (const other of caches.of(TYPE).byIndex(UNIQUE_INDEX, value))
        if (other.metadata.name !== own) yield keyOf(other);
    }
  },
};

function keysIn(server: KubeObject): readonly string[] {
  return uniqueValuesOf(server).map(([field, value]) => uniqueKey(keyOf(server).namespace, field, value));
}
