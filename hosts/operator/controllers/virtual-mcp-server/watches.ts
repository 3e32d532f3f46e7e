import { type KubeObject, keyOf, keyText, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { KINDS } from '../../kinds/index.ts';
import { typeOfKind } from '../../kinds/kind.ts';
import { virtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Caches, InformerSpec, Watched } from '../../machinery/controller.ts';
import {
  configMaps,
  deployments,
  pods,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
} from '../../objects/built-in-kinds.ts';
import { MANAGED_INFORMERS, managedPods } from '../../objects/managed-informers.ts';
import { controllerOf } from '../../objects/owned-objects.ts';
import type { Defaults } from '../../resolve/related.ts';
import { gatewaysConcernedBy } from '../references.ts';
import { serverOfLabels } from './object-names.ts';
import { uniqueInformer, uniqueWatch } from './unique-index.ts';

const TYPE = typeOfKind(virtualMcpServer);

/** Index of pods by `namespace/name` of their VirtualMCPServer. */
export const SERVER_INDEX = 'virtual-mcp-server';

/** What concerns VirtualMCPServers: what they own, what they refer to, the members of their groups, and their pods. */
export function watchesOf({ redis }: Defaults): readonly Watched[] {
  const ofSecrets = gatewaysConcernedBy('Secret');
  const ofConfigMaps = gatewaysConcernedBy('ConfigMap');
  const common = redis?.password?.name;
  return [
    ...[deployments, services, serviceAccounts, roles, roleBindings].map((type) => ({ type, keysOf: ownerOf })),
    ...KINDS.filter(({ kind }) => kind !== TYPE.kind).map((kind) => ({
      type: typeOfKind(kind),
      keysOf: gatewaysConcernedBy(kind.kind),
    })),
    {
      type: configMaps,
      *keysOf(object: KubeObject, caches: Caches) {
        yield* ownerOf(object);
        yield* ofConfigMaps(object, caches);
      },
    },
    {
      type: secrets,
      *keysOf(object: KubeObject, caches: Caches) {
        yield* ownerOf(object);
        yield* ofSecrets(object, caches);
        const { namespace, name } = keyOf(object);
        if (name === common) yield* caches.of(TYPE).list(namespace).map(keyOf);
      },
    },
    { type: pods, keysOf: serverOf },
    uniqueWatch,
  ];
}

/** Informers of the types that are not kinds of the API group. */
export const INFORMERS: readonly InformerSpec[] = [
  ...MANAGED_INFORMERS,
  uniqueInformer,
  { ...managedPods, indexes: { [SERVER_INDEX]: (pod: KubeObject) => [...serverOf(pod)].map(keyText) } } as InformerSpec,
];

function* ownerOf(object: KubeObject): Iterable<ObjectKey> {
  const owner = controllerOf(object);
  const { namespace } = keyOf(object);
  if (owner?.kind === TYPE.kind && owner.apiVersion === TYPE.apiVersion) yield { namespace, name: owner.name };
}

function* serverOf(pod: KubeObject): Iterable<ObjectKey> {
  const name = serverOfLabels(pod.metadata.labels);
  if (name !== undefined) yield { namespace: keyOf(pod).namespace, name };
}
