import { type KubeObject, keyOf, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { KINDS } from '../../kinds/index.ts';
import { typeOfKind } from '../../kinds/kind.ts';
import type { Caches, InformerSpec, Watched } from '../../machinery/controller.ts';
import {
  configMaps,
  deployments,
  networkPolicies,
  pods,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from '../../objects/built-in-kinds.ts';
import { MANAGED_INFORMERS, managedPods } from '../../objects/managed-informers.ts';
import { controllerOf } from '../../objects/owned-objects.ts';
import { referrersOf } from '../references.ts';
import { OWNER_ANNOTATION, ownerText, type ProxyKind } from './proxy-labels.ts';

/** Index of pods by owner; see {@link ownerValue}. */
export const OWNER_INDEX = 'proxy-owner';

/** Value of the index for an owner. */
export function ownerValue(kind: ProxyKind, { namespace, name }: ObjectKey): string {
  return `${namespace}/${ownerText(kind, name)}`;
}

/** What concerns the objects of a kind with a proxy: what they own, what they refer to, and their pods. */
export function proxyWatches(kind: ProxyKind): readonly Watched[] {
  const owned = [deployments, statefulSets, services, serviceAccounts, roles, roleBindings, networkPolicies];
  const configs = KINDS.filter(({ kind: each }) => CONFIGS.has(each)).map((each) => ({
    type: typeOfKind(each),
    keysOf: concernedBy(kind, each.kind),
  }));
  return [
    ...owned.map((type) => ({ type, keysOf: (object: KubeObject) => ownerOf(kind, object) })),
    ...configs,
    {
      type: configMaps,
      *keysOf(object: KubeObject, caches: Caches) {
        yield* ownerOf(kind, object);
        yield* concernedBy(kind, 'ConfigMap')(object, caches);
      },
    },
    { type: secrets, keysOf: concernedBy(kind, 'Secret') },
    { type: pods, keysOf: (pod) => podOwnerOf(kind, pod) },
  ];
}

/** Informers of the types that are not kinds of the API group. */
export const PROXY_INFORMERS: readonly InformerSpec[] = [
  ...MANAGED_INFORMERS,
  {
    ...(managedPods as InformerSpec),
    indexes: {
      [OWNER_INDEX]: (pod) => {
        const owner = pod.metadata.annotations?.[OWNER_ANNOTATION];
        return owner === undefined ? [] : [`${keyOf(pod).namespace}/${owner}`];
      },
    },
  },
];

/** Kinds that a proxy refers to, by itself or through another one. */
const CONFIGS: ReadonlySet<string> = new Set([
  'MCPAuthzConfig',
  'MCPExternalAuthConfig',
  'MCPGroup',
  'MCPOIDCConfig',
  'MCPTelemetryConfig',
  'MCPToolConfig',
]);

/** Objects of `kind` that refer to an object, by themselves or through a configuration. */
function concernedBy(kind: ProxyKind, of: string): (object: KubeObject, caches: Caches) => Iterable<ObjectKey> {
  return function* keysOf(object, caches): Iterable<ObjectKey> {
    for (const { kind: referring, object: referrer } of referrersOf(of, keyOf(object), caches)) {
      if (referring === kind) yield keyOf(referrer);
      else if (CONFIGS.has(referring)) yield* concernedBy(kind, referring)(referrer, caches);
    }
  };
}

function* ownerOf(kind: ProxyKind, object: KubeObject): Iterable<ObjectKey> {
  const owner = controllerOf(object);
  if (owner?.kind === kind) yield { namespace: keyOf(object).namespace, name: owner.name };
}

function* podOwnerOf(kind: ProxyKind, pod: KubeObject): Iterable<ObjectKey> {
  const [of, name] = pod.metadata.annotations?.[OWNER_ANNOTATION]?.split('/') ?? [];
  if (of === kind && name !== undefined) yield { namespace: keyOf(pod).namespace, name };
}
