import type { ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { MANAGED_BY } from '../../objects/managed-informers.ts';

/** Names of the objects of a VirtualMCPServer. */
export interface ObjectNames {
  readonly deployment: string;
  readonly service: string;
  /** Service account, Role and RoleBinding. */
  readonly account: string;
  /** Config map with `config.yaml`. */
  readonly config: string;
  /** Config map with the backends document. */
  readonly backends: string;
  /** Config map with the reports of pods. */
  readonly report: string;
  /** Secret with the key that seals request states. */
  readonly state: string;
}

/** Port of the endpoint, in the pod and at the Service. */
export const PORT = 4483;

/** Names for a VirtualMCPServer, whose own name has at most 58 characters: resolving checks it. */
export function namesOf(name: string): ObjectNames {
  return {
    deployment: name,
    service: `vmcp-${name}`,
    account: `${name}-vmcp`,
    config: `${name}-vmcp-config`,
    backends: `${name}-vmcp-backends`,
    report: `${name}-vmcp-report`,
    state: `${name}-vmcp-state`,
  };
}

/** Address of the Service inside the cluster, without path: `status.url`. */
export function serviceUrl({ namespace, name }: ObjectKey, clusterDomain = 'cluster.local'): string {
  return `http://${namesOf(name).service}.${namespace}.svc.${clusterDomain}:${PORT}`;
}

/** Labels of all objects of a VirtualMCPServer, and of its pods. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return {
    app: KIND_LABEL,
    'app.kubernetes.io/instance': name,
    ...MANAGED_BY,
    'app.kubernetes.io/name': KIND_LABEL,
    toolmgr: 'true',
    'toolmgr-name': name,
  };
}

/** Labels by which the Deployment and the Service select pods; a Deployment can never change them. */
export function selectorOf(name: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/name': KIND_LABEL };
}

/** The VirtualMCPServer of a labelled pod; `undefined` for pods of other kinds. */
export function serverOfLabels(labels: Readonly<Record<string, string>> = {}): string | undefined {
  return labels['app.kubernetes.io/name'] === KIND_LABEL ? labels['app.kubernetes.io/instance'] : undefined;
}

const KIND_LABEL = 'virtualmcpserver';
