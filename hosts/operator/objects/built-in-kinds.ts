import type { KubeObject, ObjectMeta, Resource, ResourceType } from '@toolmgr/plugins/kit/kubernetes';

// The built-in kinds that controllers make and follow, with the fields that they set or read. Source: Kubernetes API 1.36.

export const configMaps: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
export const secrets: ResourceType<Secret> = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
export const services: ResourceType<Service> = { apiVersion: 'v1', kind: 'Service', plural: 'services' };
export const pods: ResourceType<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };
export const serviceAccounts: ResourceType<ServiceAccount> = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
};
export const deployments: ResourceType<Deployment> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
};
export const statefulSets: ResourceType<StatefulSet> = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
};
export const roles: ResourceType<Role> = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  plural: 'roles',
};
export const roleBindings: ResourceType<RoleBinding> = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
};

export const networkPolicies: ResourceType<NetworkPolicy> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
};

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** The API server refuses changes of `data`. */
  readonly immutable?: boolean;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface ServiceAccount extends KubeObject {
  readonly imagePullSecrets?: readonly LocalReference[];
}

export interface Role extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Absent means all; an empty list means all too. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

export type Service = Resource<ServiceSpec>;

export interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly sessionAffinity?: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly {
    readonly name: string;
    readonly port: number;
    readonly targetPort: number | string;
    readonly protocol: string;
  }[];
}

export type NetworkPolicy = Resource<{
  readonly podSelector: LabelSelector;
  readonly policyTypes: readonly ('Ingress' | 'Egress')[];
  readonly ingress: readonly object[];
  readonly egress?: readonly object[];
}>;

export type Deployment = Resource<DeploymentSpec, WorkloadStatus>;

export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly strategy?: object;
  readonly template: PodTemplate;
}

export type StatefulSet = Resource<StatefulSetSpec, WorkloadStatus>;

export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly serviceName: string;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly volumeClaimTemplates?: readonly object[];
}

/** Status of Deployments and StatefulSets. */
export interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

export interface PodTemplate {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly imagePullSecrets?: readonly LocalReference[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: object;
  readonly [field: string]: unknown;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly resources?: object;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly startupProbe?: object;
  readonly lifecycle?: object;
  readonly securityContext?: object;
  readonly [field: string]: unknown;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: SecretKeyRef;
    readonly configMapKeyRef?: SecretKeyRef;
    readonly fieldRef?: { readonly apiVersion: 'v1'; readonly fieldPath: string };
  };
}

/** A key of a Secret or ConfigMap of the same namespace. */
export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** A volume: its name and one source such as `configMap` or `projected`. */
export interface Volume {
  readonly name: string;
  readonly [source: string]: unknown;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

export interface LocalReference {
  readonly name: string;
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly exitCode: number; readonly reason?: string };
  };
  /** How it ended before it was started again. */
  readonly lastState?: { readonly terminated?: { readonly message?: string } };
}
