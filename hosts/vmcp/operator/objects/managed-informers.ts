import type { ResourceType } from '@toolmgr/plugins/kubernetes';
import type { InformerSpec } from '../machinery/controller.ts';
import {
  configMaps,
  deployments,
  networkPolicies,
  type Pod,
  pods,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from './built-in-kinds.ts';

/** Label of all objects that the operator makes, and of their pods: informers select by it. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'toolmgr-operator' } as const;

const labelSelector = Object.entries(MANAGED_BY)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');

/** Follows the pods of the operator's workloads, with the parts of them that controllers read. */
export const managedPods: InformerSpec<Pod> = { type: pods, labelSelector, strip: strippedPod };

/** Informers of the built-in types that controllers make or read. Pods are added by those who have an index of them. */
export const MANAGED_INFORMERS: readonly InformerSpec[] = [
  ...(
    [
      deployments,
      statefulSets,
      services,
      serviceAccounts,
      roles,
      roleBindings,
      networkPolicies,
    ] as readonly ResourceType[]
  ).map((type) => ({ type, labelSelector })),
  { type: configMaps, metadataOnly: true },
  { type: secrets, metadataOnly: true },
];

function strippedPod({ apiVersion, kind, metadata, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels, ownerReferences } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith('toolmgr.dev/'));
  const { phase, reason, podIP, conditions, containerStatuses, initContainerStatuses } = status ?? {};
  return JSON.parse(
    JSON.stringify({
      ...{ apiVersion, kind },
      metadata: {
        ...{ name, namespace, uid, resourceVersion, deletionTimestamp, labels, ownerReferences },
        annotations: Object.fromEntries(annotations),
      },
      status: {
        ...{ phase, reason, podIP, containerStatuses, initContainerStatuses },
        conditions: conditions?.filter(({ type }) => type === 'Ready'),
      },
    }),
  );
}
