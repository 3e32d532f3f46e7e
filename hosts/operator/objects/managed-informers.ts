import type { KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { REPORT_ANNOTATIONS } from '../../vmcp/pod-report.ts';
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

/** Hash of the fields that the operator applied last: fields that are no longer wanted are found by it. */
export const APPLIED_ANNOTATION = 'toolmgr.dev/applied';

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
  { type: configMaps, metadataOnly: true, strip: strippedMetadata },
  { type: secrets, metadataOnly: true, strip: strippedMetadata },
];

/** All secrets and config maps of the cluster are followed: annotations and labels of others could fill the memory. */
function strippedMetadata({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const { labels = {}, annotations = {} } = metadata;
  const read = Object.entries(annotations)
    .filter(([key, value]) => isRead(key) && value.length <= MAX_HASH)
    .slice(0, MAX_ANNOTATIONS);
  const own = Object.entries(labels).filter(([key]) => OWN_LABELS.has(key));
  const controllers = ownerReferences?.filter(({ controller }) => controller === true);
  const kept = {
    ...{ name, namespace, uid, resourceVersion, deletionTimestamp },
    ...(own.length === 0 ? {} : { labels: Object.fromEntries(own) }),
    ...(read.length === 0 ? {} : { annotations: Object.fromEntries(read) }),
    ...(controllers?.length ? { creationTimestamp, ownerReferences: controllers } : {}),
  };
  // a copy without references to the texts of the whole answer
  return JSON.parse(JSON.stringify({ apiVersion, kind, metadata: kept }));
}

/** Annotations of config maps that controllers read; their values are hashes. */
function isRead(annotation: string): boolean {
  return annotation === APPLIED_ANNOTATION || annotation.startsWith(REPORT_ANNOTATIONS);
}

/** Labels that controllers set. A value has at most 63 characters. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  ...['app', 'toolmgr', 'toolmgr-name'],
  ...['component', 'instance', 'managed-by', 'name'].map((name) => `app.kubernetes.io/${name}`),
]);

const MAX_HASH = 64;
/** One per pod. */
const MAX_ANNOTATIONS = 1_000;

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
