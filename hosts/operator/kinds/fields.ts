import { z } from 'zod';
import type { Rule } from './kind.ts';

/** What a schema says to the API server beside JSON Schema. The generator of CRDs reads it from `meta()`. */
export interface KubeMeta {
  readonly rules?: readonly Rule[];
  /** Key of the section of a vmcp file whose schema is used, such as `rateLimiting`; `/` leads into it: `aggregation/tools/*`. */
  readonly section?: string;
  /** What the schema of the section gets in objects, by path: `a.b`, `[]` for items, `*` for values of a map. */
  readonly within?: Readonly<Record<string, Addition>>;
  /** Secrets in the section are named by `name` and `key` only. */
  readonly namedSecrets?: true;
  /** Lists only. Source: Kubernetes `x-kubernetes-list-type`. */
  readonly listType?: 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** Objects of any shape. Source: Kubernetes `x-kubernetes-preserve-unknown-fields`. */
  readonly preserveUnknown?: true;
  /** An integer or a text, such as `100m`. */
  readonly intOrString?: true;
  readonly format?: 'int32' | 'int64' | 'date-time';
}

/** What a schema of a section gets in objects beside what its plugin declares. */
export interface Addition {
  readonly rules?: readonly Rule[];
  /** Members that must be absent, with the reason. They stay in the schema: the API server drops unknown members unseen. */
  readonly forbidden?: Readonly<Record<string, string>>;
  /** All required members. */
  readonly required?: readonly string[];
  readonly listMapKeys?: readonly string[];
  readonly listType?: 'set';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** The schema with more {@link KubeMeta}. */
export function kube<S extends z.ZodType>(schema: S, meta: KubeMeta): S {
  return schema.meta({ ...schema.meta(), ...meta }) as S;
}

/** The schema of a section of a vmcp file, as its plugin declares it. `T`: what is read of it here. */
export function ofSection<T = Readonly<Record<string, unknown>>>(
  section: string,
  meta?: Pick<KubeMeta, 'within' | 'namedSecrets'>,
): z.ZodType<T, T> {
  return kube(z.unknown(), { section, ...meta }) as unknown as z.ZodType<T, T>;
}

/** A name of another object. */
export const objectName = z.string().min(1).max(253);

/** An object of a kind in the same namespace. */
export function refTo(kind: string) {
  return z.strictObject({ name: objectName.describe(`name of the ${kind}`) }).describe(`${kind} in the same namespace`);
}

/** A key of a Secret in the same namespace. */
export const secretKeyRef = z.strictObject({
  name: objectName.describe('name of the Secret'),
  key: z.string().min(1).max(253).describe('key in the Secret'),
});

/** A key of a ConfigMap with CA certificates. */
export const caBundleRef = z
  .strictObject({
    configMapRef: z.strictObject({
      name: objectName.describe('name of the ConfigMap'),
      key: z.string().min(1).max(253).default('ca.crt').describe('key in the ConfigMap'),
    }),
  })
  .describe('CA certificates as PEM in a ConfigMap of the same namespace');

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/** A DNS label of 1 to 63 characters. */
export const dnsLabel = z.string().min(1).max(63).regex(DNS_LABEL, 'expected a DNS label');

/** An http or https URL. */
export const httpUrl = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^https?:\/\/[^\s/]+/, 'expected an http or https URL');

/** An https URL. */
export const httpsUrl = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^https:\/\/[^\s/]+/, 'expected an https URL');

/** A 32-bit integer of at least `min`. */
export function int32(min = 0) {
  return kube(z.int().min(min).max(2_147_483_647), { format: 'int32' });
}

/** A TCP port. */
export const port = kube(z.int().min(1).max(65_535), { format: 'int32' });

/** A 64-bit integer of at least 0. */
export const int64 = kube(z.int().min(0), { format: 'int64' });

/** An RFC 3339 time. */
export const dateTime = kube(z.string(), { format: 'date-time' });

/** Texts by name. */
export const texts = z.record(z.string(), z.string());

const MAX_SCOPES = 100;
/** OAuth scopes. */
export const scopes = z.array(z.string().min(1).max(256)).max(MAX_SCOPES);

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
    .array(z.strictObject({ name: z.string().min(1).max(253), value: z.string().max(32_768) }))
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
        reason: z.string().min(1).max(1024).regex(REASON).describe('why, as an identifier in CamelCase'),
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
