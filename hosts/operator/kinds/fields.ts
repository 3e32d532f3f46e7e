import { kube, objectName, text, texts } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

/** An object of a kind in the same namespace. */
export function refTo(kind: string) {
  return z.strictObject({ name: objectName.describe(`name of the ${kind}`) }).describe(`${kind} in the same namespace`);
}

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/** A DNS label of 1 to 63 characters. */
export const dnsLabel = text(63).regex(DNS_LABEL, 'expected a DNS label');

/** A TCP port. */
export const port = kube(z.int().min(1).max(65_535), { format: 'int32' });

/** A 64-bit integer of at least 0. */
export const int64 = kube(z.int().min(0), { format: 'int64' });

/** An RFC 3339 time. */
export const dateTime = kube(z.string(), { format: 'date-time' });

/** An object that the API server keeps as it is. */
export function anyObject<T = Readonly<Record<string, unknown>>>() {
  return kube(z.looseObject({}), { preserveUnknown: true }) as unknown as z.ZodType<T, T>;
}

/** The parts of a pod template that are read here. Source: Kubernetes `core/v1` PodTemplateSpec. */
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A strategic-merge patch of the pod template; `container` is the name of the container of the product. */
export function podTemplateSpec(container: string) {
  return anyObject<PodTemplate>().describe(
    `changes of the pod template, merged by the list keys of Kubernetes; the container is named ${container}`,
  );
}

const quantity = kube(z.union([z.string(), z.int()]), { intOrString: true });

/** Resources of a container. Source: Kubernetes `core/v1` ResourceRequirements. */
export const resources = z
  .strictObject({
    limits: z.record(z.string(), quantity).optional().describe('maximum by resource'),
    requests: z.record(z.string(), quantity).optional().describe('minimum by resource'),
  })
  .describe('resources of the container');

/** Environment variables with plain values. */
export const env = kube(
  z
    .array(z.strictObject({ name: text(253), value: z.string().max(32_768) }))
    .max(500)
    .describe('environment variables'),
  { listType: 'map', listMapKeys: ['name'] },
);

/** Secrets for pulling images; lists of several managers are joined by name. */
export const imagePullSecrets = kube(
  z
    .array(z.strictObject({ name: z.string().max(253).default('').describe('name of the Secret') }))
    .max(100)
    .describe('secrets for pulling images'),
  { listType: 'map', listMapKeys: ['name'] },
);

/** Metadata that is added to an object. */
export const metadataOverrides = {
  labels: texts.optional().describe('labels to add'),
  annotations: texts.optional().describe('annotations to add'),
};

/** `serviceType` of the kinds with a Service. */
export const sessionAffinity = z
  .enum(['ClientIP', 'None'])
  .default('ClientIP')
  .describe('session affinity of the Service; None for stateless servers or a load balancer with its own affinity');

const CONDITION_TYPE =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** `status.conditions`. Source: Kubernetes `meta/v1` Condition; vmcp spec §2 `conditions[]`. */
export const conditions = kube(
  z
    .array(
      z.strictObject({
        type: z.string().max(316).regex(CONDITION_TYPE).describe('name of the condition in CamelCase'),
        status: z.enum(['True', 'False', 'Unknown']),
        reason: text(1024).regex(REASON).describe('why, as an identifier in CamelCase'),
        message: z.string().max(32_768).describe('why, for people'),
        lastTransitionTime: dateTime.describe('when status changed last'),
        observedGeneration: int64.optional().describe('generation of the object that the condition is about'),
      }),
    )
    .describe('observations'),
  { listType: 'map', listMapKeys: ['type'] },
);

/** Fields of every status. */
export const commonStatus = {
  observedGeneration: int64.optional().describe('last generation that was observed'),
  conditions: conditions.optional(),
};

/** Fields of the status of configurations. */
export const configStatus = {
  ...commonStatus,
  configHash: z.string().optional().describe('hash of the spec; it changes when the spec does'),
};
