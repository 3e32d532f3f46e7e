import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { MANAGED_BY } from '../../objects/managed-informers.ts';
import { labelValue } from '../derived-name.ts';

/** Kinds with a proxy. */
export type ProxyKind = 'MCPServer' | 'MCPRemoteProxy';

/** Which of the pods of an object. */
export type Part = 'proxy' | 'server';

/** Pod annotation with kind and name of the owner, which may be too long for a label. */
export const OWNER_ANNOTATION = 'toolmgr.dev/proxy-owner';
/** Pod annotation with the checksum of the configuration: a change of it makes new pods. */
export const CHECKSUM_ANNOTATION = 'toolmgr.dev/config-checksum';

/** Value of {@link OWNER_ANNOTATION}. */
export function ownerText(kind: ProxyKind, name: string): string {
  return `${kind}/${name}`;
}

/** Labels by which Deployments, StatefulSets and Services select pods; they never change. */
export function selectorOf(kind: ProxyKind, name: string, part: Part): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/component': part,
    'app.kubernetes.io/instance': labelValue(name),
    'app.kubernetes.io/name': kind.toLowerCase(),
  };
}

/** Labels of all objects of a proxy, and of its pods. */
export function labelsOf(kind: ProxyKind, name: string, part: Part): Readonly<Record<string, string>> {
  return {
    app: kind.toLowerCase(),
    ...selectorOf(kind, name, part),
    ...MANAGED_BY,
    toolmgr: 'true',
    'toolmgr-name': labelValue(name),
  };
}

/** Metadata of an object that the operator makes. Own labels win over those of the user. */
export function metadataOf(
  owner: { readonly kind: ProxyKind; readonly name: string; readonly namespace: string },
  name: string,
  part: Part,
  more: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  } = {},
): KubeObject['metadata'] {
  const { labels, annotations } = more;
  return {
    name,
    namespace: owner.namespace,
    labels: { ...labels, ...labelsOf(owner.kind, owner.name, part) },
    ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}
