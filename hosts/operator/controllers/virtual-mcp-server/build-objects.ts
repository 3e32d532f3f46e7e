import { type Applied, type KubeObject, keyOf, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import {
  type ConfigMap,
  configMaps,
  type Deployment,
  deployments,
  type PodTemplate,
  type Role,
  roleBindings,
  roles,
  type Secret,
  type Service,
  secrets,
  serviceAccounts,
  services,
} from '../../objects/built-in-kinds.ts';
import { mergePodTemplate } from '../../objects/merge-pod-template.ts';
import type { Wanted } from '../../objects/owned-objects.ts';
import type { PodInputs, Resolution } from '../../resolve/resolution.ts';
import { labelsOf, namesOf, PORT, selectorOf } from './object-names.ts';
import { CHECKSUM_ANNOTATION, CONTAINER, podTemplate, STATE_KEY_ANNOTATION } from './pod-template.ts';

/** Deployment annotation: `spec.replicas` of the VirtualMCPServer sets the number of pods. */
export const REPLICAS_ANNOTATION = 'toolmgr.dev/sets-replicas';

/** Settings of the operator for pods. */
export interface PodSettings {
  /** Image of toolmgr. */
  readonly image: string;
  readonly isOpenShift?: boolean;
}

/** Parameters of {@link buildObjects}. */
export interface BuildInput {
  readonly server: VirtualMcpServer;
  readonly inputs: PodInputs;
  readonly imagePullSecrets: Resolution['imagePullSecrets'];
  readonly settings: PodSettings;
}

/** The objects of a VirtualMCPServer in the order in which they are written, or why `podTemplateSpec` cannot be used. */
export type BuiltObjects =
  | { readonly wanted: readonly WantedObject[]; readonly unwanted: readonly UnwantedObject[] }
  | { readonly templateProblem: string };

/** An object to apply. */
export interface WantedObject extends Wanted {
  readonly object: Applied<KubeObject>;
}

/** An object that must not exist, if this VirtualMCPServer owns it. */
export interface UnwantedObject {
  readonly type: ResourceType;
  readonly name: string;
}

/** Builds all objects. Equal inputs give equal objects, also in the order of all lists and keys. */
export function buildObjects(input: BuildInput): BuiltObjects {
  const { server, inputs } = input;
  const key = keyOf(server);
  const names = namesOf(key.name);
  const ownAccount = server.spec.serviceAccount === undefined;
  const template = templateOf(input);
  if ('templateProblem' in template) return template;
  const document = inputs.documentJson === undefined ? undefined : { 'backends.json': inputs.documentJson };
  const account: readonly WantedObject[] = [accountOf(input), roleOf(input), bindingOf(input)];
  return {
    wanted: [
      ...(ownAccount ? account : []),
      stateSecretOf(server),
      configMapOf(server, names.config, { 'config.yaml': inputs.configYaml }),
      ...(document === undefined ? [] : [configMapOf(server, names.backends, document)]),
      configMapOf(server, names.report, undefined),
      deploymentOf(server, template.template),
      serviceOf(server),
    ],
    unwanted: [
      ...(ownAccount ? [] : [...account].reverse().map(({ type }) => ({ type, name: names.account }))),
      ...(document === undefined ? [{ type: configMaps, name: names.backends }] : []),
    ],
  };
}

/** The Deployment with the hash of the state key in its pod template. */
export function withStateKey(deployment: Applied<KubeObject>, hash: string): Applied<Deployment> {
  const { spec, ...rest } = deployment as Deployment;
  const { metadata, ...template } = spec.template;
  const annotations = { ...metadata?.annotations, [STATE_KEY_ANNOTATION]: hash };
  return { ...rest, spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations } } } };
}

/** The generated template with `podTemplateSpec` merged. */
function templateOf({
  server,
  inputs,
  imagePullSecrets,
  settings,
}: BuildInput): { template: PodTemplate } | { templateProblem: string } {
  const key = keyOf(server);
  const { podTemplateSpec, serviceAccount = namesOf(key.name).account } = server.spec;
  const generated = podTemplate({ key, inputs, imagePullSecrets, serviceAccount, ...settings });
  if (podTemplateSpec === undefined) return { template: generated };
  const merged = mergePodTemplate(generated, podTemplateSpec);
  if ('problem' in merged) return { templateProblem: `spec.podTemplateSpec: ${merged.problem}` };
  const problem = templateProblem(merged.template, generated, selectorOf(key.name));
  return problem === undefined ? merged : { templateProblem: `spec.podTemplateSpec: ${problem}` };
}

/** What a template must keep so that its pods belong to the VirtualMCPServer. */
function templateProblem(
  { metadata, spec }: PodTemplate,
  generated: PodTemplate,
  selector: Readonly<Record<string, string>>,
): string | undefined {
  const changed = Object.keys(selector).find((label) => metadata?.labels?.[label] !== selector[label]);
  if (changed !== undefined) return `it must not change the label ${changed}, by which pods are found`;
  const checksum = generated.metadata?.annotations?.[CHECKSUM_ANNOTATION];
  if (metadata?.annotations?.[CHECKSUM_ANNOTATION] !== checksum) return `it must not change ${CHECKSUM_ANNOTATION}`;
  if (!spec?.containers?.some(({ name }) => name === CONTAINER)) return `it must keep the container ${CONTAINER}`;
  return undefined;
}

function accountOf({ server, imagePullSecrets }: BuildInput): WantedObject {
  const { name, namespace } = keyOf(server);
  const object = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: namesOf(name).account, namespace, labels: labelsOf(name) },
    automountServiceAccountToken: false, // the pod template asks for the token
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
  };
  return { type: serviceAccounts, object };
}

/** Rights of the pods: their config maps and the secrets of their backends, by name. */
function roleOf({ server, inputs }: BuildInput): WantedObject {
  const { name, namespace } = keyOf(server);
  const { account, backends, report } = namesOf(name);
  const may = (resources: string, resourceNames: readonly string[], verbs: readonly string[]): Role['rules'] =>
    // without names a rule is about all objects
    resourceNames.length === 0 ? [] : [{ apiGroups: [''], resources: [resources], resourceNames, verbs }];
  const object: Role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: account, namespace, labels: labelsOf(name) },
    rules: [
      ...may('configmaps', [report], ['get', 'patch']),
      ...(inputs.documentJson === undefined ? [] : may('configmaps', [backends], ['get', 'list', 'watch'])),
      ...may('secrets', inputs.secretNames, ['get']),
    ],
  };
  return { type: roles, object };
}

function bindingOf({ server }: BuildInput): WantedObject {
  const { name, namespace } = keyOf(server);
  const { account } = namesOf(name);
  const object = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: account, namespace, labels: labelsOf(name) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
  return { type: roleBindings, object };
}

function configMapOf(server: VirtualMcpServer, name: string, data: ConfigMap['data']): WantedObject {
  const { name: serverName, namespace } = keyOf(server);
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: labelsOf(serverName) },
    ...(data === undefined ? {} : { data }),
  };
  return { type: configMaps, object, metadataOnly: data !== undefined };
}

/** The Secret without its value, which is made when the Secret is created. */
function stateSecretOf(server: VirtualMcpServer): WantedObject {
  const { name, namespace } = keyOf(server);
  const object: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: namesOf(name).state, namespace, labels: labelsOf(name) },
    type: 'Opaque',
    immutable: true,
  };
  return { type: secrets, object };
}

function deploymentOf(server: VirtualMcpServer, template: PodTemplate): WantedObject {
  const { name, namespace } = keyOf(server);
  const { replicas } = server.spec;
  const object: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: namesOf(name).deployment,
      namespace,
      labels: labelsOf(name),
      ...(replicas === undefined ? {} : { annotations: { [REPLICAS_ANNOTATION]: 'true' } }),
    },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: selectorOf(name) },
      // a new pod is ready before an old one stops
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template,
    },
  };
  return { type: deployments, object };
}

function serviceOf(server: VirtualMcpServer): WantedObject {
  const { name, namespace } = keyOf(server);
  const { serviceType = 'ClusterIP', sessionAffinity = 'ClientIP' } = server.spec;
  const object: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: namesOf(name).service, namespace, labels: labelsOf(name) },
    spec: {
      ports: [{ name: 'http', port: PORT, protocol: 'TCP', targetPort: 'http' }],
      selector: selectorOf(name),
      sessionAffinity,
      type: serviceType,
    },
  };
  return { type: services, object };
}
