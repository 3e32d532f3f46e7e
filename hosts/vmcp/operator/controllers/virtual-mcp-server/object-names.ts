import type { ObjectKey } from '@toolmgr/plugins/kubernetes';
import { MANAGED_BY } from '../../objects/managed-informers.ts';
import { derivedName, labelValue } from '../derived-name.ts';

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
}

/** Port of the endpoint, in the pod and at the Service. */
export const PORT = 4483;

/** Names for a VirtualMCPServer. Those that would be too long are shortened and get a hash. */
export function namesOf(name: string): ObjectNames {
  return {
    deployment: boundedName(name, '', MAX_DEPLOYMENT),
    service: derivedName(name, { prefix: 'vmcp-' }),
    account: boundedName(name, '-vmcp'),
    config: boundedName(name, '-vmcp-config'),
    backends: boundedName(name, '-vmcp-backends'),
    report: boundedName(name, '-vmcp-report'),
  };
}

/** Longest name of an object. Its pods add the hash of their ReplicaSet. */
const MAX_NAME = 253;
const MAX_DEPLOYMENT = 230;

function boundedName(name: string, suffix: string, max = MAX_NAME): string {
  return name.length + suffix.length <= max ? `${name}${suffix}` : derivedName(name, { suffix, max });
}

/** Address of the Service inside the cluster, without path: `status.url`. */
export function serviceUrl({ namespace, name }: ObjectKey, clusterDomain = 'cluster.local'): string {
  return `http://${namesOf(name).service}.${namespace}.svc.${clusterDomain}:${PORT}`;
}

/** Labels of all objects of a VirtualMCPServer, and of its pods. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return {
    app: KIND_LABEL,
    'app.kubernetes.io/instance': labelValue(name),
    ...MANAGED_BY,
    'app.kubernetes.io/name': KIND_LABEL,
    toolmgr: 'true',
    'toolmgr-name': labelValue(name),
  };
}

/** Labels by which the Deployment and the Service select pods; a Deployment can never change them. */
export function selectorOf(name: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/instance': labelValue(name), 'app.kubernetes.io/name': KIND_LABEL };
}

const KIND_LABEL = 'virtualmcpserver';
