import { type Applied, keyOf } from '@toolmgr/plugins/kit/kubernetes';
import type { EmbeddingServer } from '../../kinds/embedding-server.ts';
import type { PodTemplate, Service, StatefulSet } from '../../objects/built-in-kinds.ts';
import { MANAGED_BY } from '../../objects/managed-informers.ts';
import { mergePodTemplate } from '../../objects/merge-pod-template.ts';
import { derivedName, labelValue, MAX_STATEFUL_SET } from '../derived-name.ts';

/** Name of the container of the server. */
export const CONTAINER = 'embedding';

const CACHE = 'model-cache';
const CACHE_PATH = '/data';

/** The wanted objects of an EmbeddingServer. Equal inputs give equal objects. */
export interface EmbeddingObjects {
  readonly statefulSet: Applied<StatefulSet>;
  readonly service: Applied<Service>;
  readonly url: string;
  /** Why `podTemplateSpec` is left out. */
  readonly templateProblem?: string;
}

/** `ignoresTemplate`: the API server refused the merged template. */
export function embeddingObjects(server: EmbeddingServer, ignoresTemplate = false): EmbeddingObjects {
  const { namespace, name } = keyOf(server);
  const { spec } = server;
  const { port = 8080, replicas = 1, resourceOverrides = {}, podTemplateSpec } = spec;
  const labels = labelsOf(name);
  const statefulSetName = derivedName(name, { max: MAX_STATEFUL_SET });
  const serviceName = derivedName(name);
  const generated = podTemplate(server, labels);
  const merged =
    podTemplateSpec === undefined || ignoresTemplate
      ? { template: generated }
      : mergePodTemplate(generated, podTemplateSpec);
  const template = 'template' in merged ? withLabels(merged.template, labels) : generated;
  const cache = cacheOf(spec);
  const metadataOf = (overrides: Overrides | undefined, own: string): Applied<StatefulSet>['metadata'] => ({
    name: own,
    namespace,
    labels: { ...overrides?.labels, ...labels },
    ...(overrides?.annotations === undefined ? {} : { annotations: overrides.annotations }),
  });
  return {
    statefulSet: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: metadataOf(resourceOverrides.statefulSet, statefulSetName),
      spec: {
        replicas,
        serviceName,
        selector: { matchLabels: labels },
        template,
        ...(cache === undefined
          ? {}
          : {
              volumeClaimTemplates: [claimOf(cache, resourceOverrides.persistentVolumeClaim, labels)],
              // the volume is a cache: it goes with the server, and stays when pods go
              persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
            }),
      },
    },
    service: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(resourceOverrides.service, serviceName),
      spec: {
        type: 'ClusterIP',
        selector: labels,
        ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }],
      },
    },
    url: `http://${serviceName}.${namespace}.svc.cluster.local:${port}`,
    ...('problem' in merged ? { templateProblem: merged.problem } : {}),
  };
}

interface Overrides {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Labels of all objects, also the selector of the pods. */
function labelsOf(name: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/component': 'embedding-server',
    'app.kubernetes.io/instance': labelValue(name),
    ...MANAGED_BY,
    'app.kubernetes.io/name': 'embeddingserver',
  };
}

type Spec = EmbeddingServer['spec'];
type Cache = NonNullable<Spec['modelCache']>;

function cacheOf({ modelCache = {} }: Spec): Cache | undefined {
  return modelCache.enabled === false ? undefined : modelCache;
}

function claimOf(cache: Cache, overrides: Overrides | undefined, labels: Readonly<Record<string, string>>): object {
  const { size = '10Gi', accessMode = 'ReadWriteOnce', storageClassName } = cache;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: CACHE,
      labels: { ...overrides?.labels, ...labels },
      ...(overrides?.annotations === undefined ? {} : { annotations: overrides.annotations }),
    },
    spec: {
      accessModes: [accessMode],
      resources: { requests: { storage: size } },
      volumeMode: 'Filesystem',
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}

function podTemplate({ spec }: EmbeddingServer, labels: Readonly<Record<string, string>>): PodTemplate {
  const { model = 'BAAI/bge-small-en-v1.5', port = 8080, hfTokenSecretRef: token, imagePullSecrets = [] } = spec;
  const given = spec.env ?? [];
  const isGiven = (name: string): boolean => given.some((each) => each.name === name);
  const own = [
    { name: 'HF_HOME', value: CACHE_PATH },
    { name: 'MODEL_ID', value: literal(model) },
    ...(token === undefined
      ? []
      : [{ name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: token.name, key: token.key } } }]),
  ].filter(({ name }) => !isGiven(name));
  return {
    metadata: { labels },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: CONTAINER,
          image: spec.image ?? 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
          imagePullPolicy: spec.imagePullPolicy ?? 'IfNotPresent',
          // one argument: a model that begins with a dash is no option
          args: [`--model-id=${literal(model)}`, `--port=${port}`, ...(spec.args ?? [])],
          env: [...own, ...given],
          livenessProbe: probe(60, 30, 10),
          ports: [{ containerPort: port, name: 'http', protocol: 'TCP' }],
          readinessProbe: probe(30, 10, 5),
          ...(spec.resources === undefined ? {} : { resources: spec.resources }),
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          },
          // a first download takes long; without this the liveness probe would begin it again and again
          startupProbe: { ...probe(0, 10, 5), failureThreshold: DOWNLOAD_PROBES },
          volumeMounts: [{ name: CACHE, mountPath: CACHE_PATH }],
        },
      ],
      ...(imagePullSecrets.length === 0
        ? {}
        : { imagePullSecrets: imagePullSecrets.map(({ name = '' }) => ({ name })) }),
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      ...(cacheOf(spec) === undefined ? { volumes: [{ name: CACHE, emptyDir: {} }] } : {}),
    },
  };
}

/** Kubernetes replaces `$(NAME)` in arguments and variables, also by values of secrets. */
function literal(text: string): string {
  return text.replaceAll('$(', () => '$$(');
}

/** 30 minutes, every 10 s. */
const DOWNLOAD_PROBES = 180;

function probe(initialDelaySeconds: number, periodSeconds: number, timeoutSeconds: number): object {
  const httpGet = { path: '/health', port: 'http', scheme: 'HTTP' };
  return {
    httpGet,
    ...(initialDelaySeconds === 0 ? {} : { initialDelaySeconds }),
    ...{ periodSeconds, timeoutSeconds, failureThreshold: 3 },
  };
}

/** The pods keep the labels of the selector, whatever `podTemplateSpec` says. */
function withLabels(template: PodTemplate, labels: Readonly<Record<string, string>>): PodTemplate {
  return { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } } };
}
