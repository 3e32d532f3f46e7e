import type { z } from 'zod';
import type { mcpServer } from '../../kinds/mcp-server.ts';
import {
  type Container,
  type EnvVar,
  type NetworkPolicy,
  networkPolicies,
  type PodTemplate,
  type Service,
  type StatefulSet,
  serviceAccounts,
  services,
  statefulSets,
} from '../../objects/built-in-kinds.ts';
import {
  CHECKSUM_ANNOTATION,
  labelsOf,
  metadataOf,
  OWNER_ANNOTATION,
  ownerText,
  selectorOf,
} from '../proxy/proxy-labels.ts';
import { mergedTemplate, type WantedObject } from '../proxy/proxy-objects.ts';
import type { Isolation } from './server-isolation.ts';
import type { ServerNames } from './server-names.ts';

/** The spec of an MCPServer with its defaults. */
export type ServerSpec = z.output<typeof mcpServer.spec>;

/** What the objects of the server behind the proxy are made of. */
export interface ServerObjectsInput {
  readonly owner: { readonly kind: 'MCPServer'; readonly name: string; readonly namespace: string };
  readonly names: ServerNames;
  readonly spec: ServerSpec;
  readonly isolation: Isolation;
  /** Hash of the contents of the secrets of the server. */
  readonly checksum: string;
  readonly imagePullSecrets: readonly string[];
  /** The platform assigns user ids. */
  readonly isOpenShift: boolean;
  /** Number of pods; absent: another controller sets it. */
  readonly replicas: number | undefined;
}

/** Name of the container of the server. */
export const SERVER_CONTAINER = 'mcp';

/** User of servers whose image names none or root. `spec.podTemplateSpec` changes it. */
const USER = 1000;

/** Port of the server in its pod. */
export function serverPort({ mcpPort, proxyPort }: ServerSpec): number {
  return mcpPort ?? proxyPort;
}

/** The objects of the server, or why `podTemplateSpec` cannot be used. */
export function serverObjects(
  input: ServerObjectsInput,
): readonly WantedObject[] | { readonly templateProblem: string } {
  const template = templateOf(input);
  if ('templateProblem' in template) return template;
  return [...accountOf(input), policyOf(input), ...servicesOf(input), statefulSetOf(input, template)];
}

function accountOf({ owner, names, spec, imagePullSecrets }: ServerObjectsInput): WantedObject[] {
  if (spec.serviceAccount !== undefined) return [];
  const object = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadataOf(owner, names.serverAccount, 'server'),
    automountServiceAccountToken: false,
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
  };
  return [{ type: serviceAccounts, object }];
}

/** Only the proxy, which checks callers, reaches the server. */
function policyOf({ owner, names, spec, isolation: { egress } }: ServerObjectsInput): WantedObject {
  const ofProxy = { podSelector: { matchLabels: selectorOf(owner.kind, owner.name, 'proxy') } };
  const object: NetworkPolicy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(owner, names.networkPolicy, 'server'),
    spec: {
      podSelector: { matchLabels: selectorOf(owner.kind, owner.name, 'server') },
      policyTypes: egress === undefined ? ['Ingress'] : ['Ingress', 'Egress'],
      ingress: isStdio(spec) ? [] : [{ from: [ofProxy], ports: [{ port: serverPort(spec), protocol: 'TCP' }] }],
      ...(egress === undefined ? {} : { egress }),
    },
  };
  return { type: networkPolicies, object };
}

/** None for stdio: the proxy attaches to the container. */
function servicesOf(input: ServerObjectsInput): WantedObject[] {
  if (isStdio(input.spec)) return [];
  const headless = serviceOf(input, input.names.headless, { clusterIP: 'None' });
  if (!hasBackends(input.spec)) return [headless];
  // a session of the server is in one of its pods: each proxy keeps to one
  return [headless, serviceOf(input, input.names.backends, { type: 'ClusterIP', sessionAffinity: 'ClientIP' })];
}

/** Several pods of the server are behind one address. */
export function hasBackends({ backendReplicas = 1 }: ServerSpec): boolean {
  return backendReplicas > 1;
}

function serviceOf({ owner, spec }: ServerObjectsInput, name: string, more: object): WantedObject {
  const port = serverPort(spec);
  const object: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(owner, name, 'server'),
    spec: {
      ...more,
      ports: [{ name: 'http', port, protocol: 'TCP', targetPort: port }],
      selector: selectorOf(owner.kind, owner.name, 'server'),
    },
  };
  return { type: services, object };
}

function statefulSetOf({ owner, names, replicas }: ServerObjectsInput, template: PodTemplate): WantedObject {
  const object: StatefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(owner, names.statefulSet, 'server'),
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      serviceName: names.headless,
      selector: { matchLabels: selectorOf(owner.kind, owner.name, 'server') },
      template,
    },
  };
  return { type: statefulSets, object };
}

function templateOf(input: ServerObjectsInput): PodTemplate | { readonly templateProblem: string } {
  const { owner, spec } = input;
  const generated = generatedTemplate(input);
  if (spec.podTemplateSpec === undefined) return generated;
  return mergedTemplate(
    generated,
    spec.podTemplateSpec,
    SERVER_CONTAINER,
    selectorOf(owner.kind, owner.name, 'server'),
  );
}

function generatedTemplate(input: ServerObjectsInput): PodTemplate {
  const { owner, names, spec, isolation, checksum, imagePullSecrets, isOpenShift } = input;
  return {
    metadata: {
      annotations: { [CHECKSUM_ANNOTATION]: checksum, [OWNER_ANNOTATION]: ownerText(owner.kind, owner.name) },
      labels: labelsOf(owner.kind, owner.name, 'server'),
    },
    spec: {
      automountServiceAccountToken: false,
      containers: [containerOf(input)],
      enableServiceLinks: false, // no variables with the Services of the namespace
      ...(isolation.hostNetwork === undefined ? {} : { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
      securityContext: isolation.privileged
        ? {}
        : {
            ...(isOpenShift ? {} : { fsGroup: USER, runAsGroup: USER, runAsUser: USER }),
            runAsNonRoot: true,
            seccompProfile: { type: 'RuntimeDefault' },
          },
      serviceAccountName: spec.serviceAccount ?? names.serverAccount,
      ...(spec.volumes?.length
        ? { volumes: spec.volumes.map(({ name, hostPath }) => ({ name, hostPath: { path: hostPath } })) }
        : {}),
    },
  };
}

function containerOf({ spec, isolation }: ServerObjectsInput): Container {
  const port = serverPort(spec);
  const { args = [], volumes = [], resources } = spec;
  return {
    name: SERVER_CONTAINER,
    image: spec.image,
    imagePullPolicy: 'IfNotPresent',
    ...(args.length === 0 ? {} : { args }),
    env: variablesOf(spec),
    // the end of a connection ends the server, so that each session has a process of its own
    ...(isStdio(spec)
      ? { stdin: true, stdinOnce: true }
      : {
          ports: [{ containerPort: port, name: 'http', protocol: 'TCP' }],
          readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
        }),
    ...(resources === undefined ? {} : { resources }),
    securityContext: isolation.privileged
      ? { privileged: true }
      : { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, privileged: false },
    ...(volumes.length === 0
      ? {}
      : { volumeMounts: volumes.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly })) }),
  };
}

/** What the server learns about its transport, the variables of the user, and secrets; a later one wins. */
function variablesOf(spec: ServerSpec): readonly EnvVar[] {
  const port = `${serverPort(spec)}`;
  const ofPort = { MCP_HOST: '0.0.0.0', MCP_PORT: port, FASTMCP_PORT: port, PORT: port };
  const plain = Object.entries({ MCP_TRANSPORT: spec.transport, ...(isStdio(spec) ? {} : ofPort) });
  const all: readonly EnvVar[] = [
    ...plain.map(([name, value]) => ({ name, value })),
    ...(spec.env ?? []),
    ...(spec.secrets ?? []).map(({ name, key, targetEnvName = key }) => ({
      name: targetEnvName,
      valueFrom: { secretKeyRef: { name, key } },
    })),
  ];
  return [...new Map(all.map((variable) => [variable.name, variable])).values()];
}

/** Whether the proxy attaches to the container. */
export function isStdio({ transport }: Pick<ServerSpec, 'transport'>): boolean {
  return transport === 'stdio';
}
