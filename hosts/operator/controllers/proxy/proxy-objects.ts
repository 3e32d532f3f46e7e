import type { Applied, KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import {
  configMaps,
  type Deployment,
  deployments,
  type PodTemplate,
  type Role,
  roleBindings,
  roles,
  type Service,
  serviceAccounts,
  services,
} from '../../objects/built-in-kinds.ts';
import { mergePodTemplate } from '../../objects/merge-pod-template.ts';
import type { Wanted } from '../../objects/owned-objects.ts';
import { CONTAINER_SECURITY, podSecurity } from '../../objects/pod-security.ts';
import type { PodParts } from '../../resolve/pod-parts.ts';
import type { ProxySpec } from './proxy-context.ts';
import {
  CHECKSUM_ANNOTATION,
  labelsOf,
  metadataOf,
  OWNER_ANNOTATION,
  ownerText,
  type ProxyKind,
  selectorOf,
} from './proxy-labels.ts';
import type { ResolvedProxy } from './resolve-proxy.ts';

/** An object to apply. */
export interface WantedObject extends Wanted {
  readonly object: Applied<KubeObject>;
}

/** What the objects of a proxy are made of. */
export interface ProxyObjectsInput {
  readonly owner: { readonly kind: ProxyKind; readonly name: string; readonly namespace: string };
  readonly names: ProxyNames;
  readonly spec: ProxySpec;
  readonly resolved: ResolvedProxy;
  readonly pod: ReturnType<PodParts['result']>;
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** The platform assigns user ids. */
  readonly isOpenShift: boolean;
  /** Absent: another controller, such as an autoscaler, sets it. */
  readonly replicas: number | undefined;
  /** Two proxies must never run at the same time. */
  readonly isExclusive?: boolean;
  /** Rights of the proxy. */
  readonly rules?: Role['rules'];
  readonly resources?: ProxySpec['resources'];
  /** Existing service account of the proxy. */
  readonly serviceAccount?: string | undefined;
  /** Changes of the template of the proxy, by the user. */
  readonly podTemplateSpec?: unknown;
}

/** Names of the objects of a proxy. */
export interface ProxyNames {
  readonly deployment: string;
  readonly service: string;
  readonly config: string;
  readonly account: string;
}

/** Name of the container of the proxy. */
export const CONTAINER = 'toolmgr';

const CONFIG_FOLDER = '/etc/runconfig';
const CONFIG_KEY = 'runconfig.json';
/** Where Kubernetes mounts the service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Time for kube-proxy and load balancers to stop sending connections. */
const WITHDRAW_SECONDS = 5;
/** More than the withdrawal and the 20 s that `run --supervised` gives calls in flight. */
const GRACE_SECONDS = 35;
const RESOURCES = { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } };

/** The objects of a proxy in the order in which they are written, or why `podTemplateSpec` cannot be used. */
export function proxyObjects(input: ProxyObjectsInput): readonly WantedObject[] | { readonly templateProblem: string } {
  const template = templateOf(input);
  if ('templateProblem' in template) return template;
  return [...accountOf(input), configMapOf(input), deploymentOf(input, template), serviceOf(input)];
}

function accountOf({ owner, names, rules = [], serviceAccount, imagePullSecrets }: ProxyObjectsInput): WantedObject[] {
  if (serviceAccount !== undefined) return [];
  const metadata = metadataOf(owner, names.account, 'proxy');
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata,
    automountServiceAccountToken: false, // the pod template asks for the token where it is needed
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
  };
  const wanted: WantedObject[] = [{ type: serviceAccounts, object: account }];
  if (rules.length === 0) return wanted;
  const group = 'rbac.authorization.k8s.io';
  const role: Role = { apiVersion: `${group}/v1`, kind: 'Role', metadata, rules };
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: group, kind: 'Role', name: names.account },
    subjects: [{ kind: 'ServiceAccount', name: names.account, namespace: owner.namespace }],
  };
  return [...wanted, { type: roles, object: role }, { type: roleBindings, object: binding }];
}

function configMapOf({ owner, names, resolved }: ProxyObjectsInput): WantedObject {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(owner, names.config, 'proxy'),
    data: { [CONFIG_KEY]: resolved.runConfig },
  };
  return { type: configMaps, object, metadataOnly: true };
}

function deploymentOf(input: ProxyObjectsInput, template: PodTemplate): WantedObject {
  const { owner, names, spec, replicas, isExclusive } = input;
  const { labels, annotations } = spec.resourceOverrides?.proxyDeployment ?? {};
  const object: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(owner, names.deployment, 'proxy', { labels, annotations }),
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: selectorOf(owner.kind, owner.name, 'proxy') },
      strategy: isExclusive
        ? { type: 'Recreate' }
        : { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template,
    },
  };
  return { type: deployments, object };
}

function serviceOf({ owner, names, spec }: ProxyObjectsInput): WantedObject {
  const { labels, annotations } = spec.resourceOverrides?.proxyService ?? {};
  const object: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(owner, names.service, 'proxy', { labels, annotations }),
    spec: {
      ports: [{ name: 'http', port: spec.proxyPort, protocol: 'TCP', targetPort: 'http' }],
      selector: selectorOf(owner.kind, owner.name, 'proxy'),
      sessionAffinity: spec.sessionAffinity,
      type: 'ClusterIP',
    },
  };
  return { type: services, object };
}

function templateOf(input: ProxyObjectsInput): PodTemplate | { readonly templateProblem: string } {
  const generated = generatedTemplate(input);
  if (input.podTemplateSpec === undefined) return generated;
  return mergedTemplate(
    generated,
    input.podTemplateSpec,
    CONTAINER,
    selectorOf(input.owner.kind, input.owner.name, 'proxy'),
  );
}

/** Merges the changes of a user; the result must still be the pods of the owner, with the named container. */
export function mergedTemplate(
  generated: PodTemplate,
  patch: unknown,
  container: string,
  selector: Readonly<Record<string, string>>,
): PodTemplate | { readonly templateProblem: string } {
  const merged = mergePodTemplate(generated, patch);
  const problem = 'problem' in merged ? merged.problem : lostPart(merged.template, generated, container, selector);
  return 'template' in merged && problem === undefined
    ? merged.template
    : { templateProblem: `spec.podTemplateSpec: ${problem}` };
}

function lostPart(
  { metadata, spec }: PodTemplate,
  generated: PodTemplate,
  container: string,
  selector: Readonly<Record<string, string>>,
): string | undefined {
  const label = Object.keys(selector).find((name) => metadata?.labels?.[name] !== selector[name]);
  if (label !== undefined) return `it must not change the label ${label}, by which pods are found`;
  const annotations = generated.metadata?.annotations ?? {};
  const own = [OWNER_ANNOTATION, CHECKSUM_ANNOTATION].find(
    (name) => metadata?.annotations?.[name] !== annotations[name],
  );
  if (own !== undefined) return `it must not change the annotation ${own}`;
  return spec.containers.some(({ name }) => name === container) ? undefined : `it must keep the container ${container}`;
}

function generatedTemplate(input: ProxyObjectsInput): PodTemplate {
  const { owner, names, spec, resolved, pod, image, imagePullSecrets } = input;
  const {
    podTemplateMetadataOverrides: own,
    env = [],
    imagePullSecrets: ownPull = [],
  } = spec.resourceOverrides?.proxyDeployment ?? {};
  const pull = [...new Set([...ownPull.map(({ name }) => name), ...imagePullSecrets])].filter((name) => name !== '');
  const needsToken = (input.rules ?? []).length > 0 || resolved.runConfig.includes(SERVICE_ACCOUNT);
  return {
    metadata: {
      annotations: {
        ...own?.annotations,
        [CHECKSUM_ANNOTATION]: resolved.checksum,
        [OWNER_ANNOTATION]: ownerText(owner.kind, owner.name),
      },
      labels: { ...own?.labels, ...labelsOf(owner.kind, owner.name, 'proxy') },
    },
    spec: {
      automountServiceAccountToken: needsToken,
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['run', '--from-config', `${CONFIG_FOLDER}/${CONFIG_KEY}`, '--foreground', '--supervised'],
          env: [...withoutDoubles([...env, { name: 'HOME', value: '/tmp' }, ...pod.env])],
          // endpoints are withdrawn while the container sleeps
          lifecycle: { preStop: { sleep: { seconds: WITHDRAW_SECONDS } } },
          livenessProbe: { ...probe('/health'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
          ports: [{ containerPort: spec.proxyPort, name: 'http', protocol: 'TCP' }],
          readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
          resources: input.resources ?? RESOURCES,
          securityContext: CONTAINER_SECURITY,
          startupProbe: { ...probe('/health'), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 45 },
          volumeMounts: [
            { name: 'runconfig', mountPath: CONFIG_FOLDER, readOnly: true },
            { name: 'tmp', mountPath: '/tmp' },
            ...pod.volumeMounts,
          ],
        },
      ],
      ...(pull.length === 0 ? {} : { imagePullSecrets: pull.map((name) => ({ name })) }),
      securityContext: podSecurity(input.isOpenShift),
      serviceAccountName: input.serviceAccount ?? names.account,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      volumes: [
        { name: 'runconfig', configMap: { name: names.config, defaultMode: 0o444 } },
        { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
        ...pod.volumes,
      ],
    },
  };
}

function probe(path: string): object {
  return { httpGet: { path, port: 'http', scheme: 'HTTP' } };
}

/** Variables by name; a later one wins, so that users cannot replace those of the operator. */
function withoutDoubles<T extends { readonly name: string }>(variables: readonly T[]): Iterable<T> {
  return new Map(variables.map((variable) => [variable.name, variable])).values();
}
