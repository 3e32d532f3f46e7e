import type { ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { EnvVar, PodTemplate, Volume, VolumeMount } from '../../objects/built-in-kinds.ts';
import { CONTAINER_SECURITY, podSecurity } from '../../objects/pod-security.ts';
import type { PodInputs, Resolution } from '../../resolve/resolution.ts';
import { labelsOf, namesOf, PORT } from './object-names.ts';

/** Pod annotation with the checksum of the configuration: a change of it makes new pods. */
export const CHECKSUM_ANNOTATION = 'toolmgr.dev/config-checksum';

/** Pod annotation with the hash of the state key: another key makes new pods. */
export const STATE_KEY_ANNOTATION = 'toolmgr.dev/state-key-hash';

/** Key of the Secret with the state key. */
export const STATE_KEY = 'state-key';

/** Name of the container of the aggregator. */
export const CONTAINER = 'vmcp';

/** Parameters of {@link podTemplate}. */
export interface PodTemplateInput {
  readonly key: ObjectKey;
  readonly image: string;
  readonly serviceAccount: string;
  readonly inputs: Pick<PodInputs, 'checksum' | 'env' | 'volumes' | 'volumeMounts'>;
  readonly imagePullSecrets: Resolution['imagePullSecrets'];
  /** The platform assigns user ids to namespaces, and refuses others. */
  readonly isOpenShift?: boolean;
}

/** The pod template before `podTemplateSpec` is merged. Equal inputs give an equal template, in the same order. */
export function podTemplate(input: PodTemplateInput): PodTemplate {
  const { key, image, inputs, serviceAccount, imagePullSecrets, isOpenShift = false } = input;
  return {
    metadata: {
      annotations: { [CHECKSUM_ANNOTATION]: inputs.checksum },
      labels: labelsOf(key.name),
    },
    spec: {
      automountServiceAccountToken: true,
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['vmcp', 'serve', '--config', `${CONFIG_FOLDER}/config.yaml`, '--host', '0.0.0.0', '--port', `${PORT}`],
          env: environment(input),
          // Endpoints are withdrawn while the container sleeps; then it refuses new calls and finishes those in flight.
          lifecycle: { preStop: { sleep: { seconds: WITHDRAW_SECONDS } } },
          livenessProbe: { ...probe('/health'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
          ports: [{ containerPort: PORT, name: 'http', protocol: 'TCP' }],
          readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
          resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
          securityContext: CONTAINER_SECURITY,
          // why a pod does not start, such as a plugin that it cannot load, becomes part of the status
          terminationMessagePolicy: 'FallbackToLogsOnError',
          startupProbe: { ...probe('/health'), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 60 },
          volumeMounts: [...OWN_MOUNTS, ...inputs.volumeMounts],
        },
      ],
      ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
      securityContext: podSecurity(isOpenShift),
      serviceAccountName: serviceAccount,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      volumes: [
        { name: 'vmcp-config', configMap: { name: namesOf(key.name).config, defaultMode: 0o444 } },
        { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
        ...inputs.volumes,
      ] satisfies Volume[],
    },
  };
}

const CONFIG_FOLDER = '/etc/vmcp-config';

/** Time for kube-proxy and load balancers to stop sending connections. */
const WITHDRAW_SECONDS = 5;
/** More than the withdrawal, a call of 30 s, and the end of the process. */
const GRACE_SECONDS = 45;

const OWN_MOUNTS: readonly VolumeMount[] = [
  { name: 'vmcp-config', mountPath: CONFIG_FOLDER, readOnly: true },
  { name: 'tmp', mountPath: '/tmp' },
];

function probe(path: string): object {
  return { httpGet: { path, port: 'http', scheme: 'HTTP' } };
}

function environment({ key, inputs }: PodTemplateInput): readonly EnvVar[] {
  return [
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'TOOLMGR_CONFIG_CHECKSUM', value: inputs.checksum },
    // the same in all pods: each continues the calls of the others that wait for input
    { name: 'TOOLMGR_STATE_KEY', valueFrom: { secretKeyRef: { name: namesOf(key.name).state, key: STATE_KEY } } },
    ...inputs.env,
  ];
}
