import { int32, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { commonStatus, env, imagePullSecrets, metadataOverrides, podTemplateSpec, port, resources } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';

const modelCache = z.strictObject({
  enabled: z.boolean().default(true).describe('keep the model in a volume'),
  size: z
    .string()
    .max(32)
    .regex(/^\d+(\.\d+)?([EPTGMk]i?)?$/, 'expected a quantity such as 10Gi')
    .default('10Gi')
    .describe('size of the volume'),
  accessMode: z
    .enum(['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod'])
    .default('ReadWriteOnce')
    .describe('access mode of the volume'),
  storageClassName: text(253).optional().describe('storage class; default: that of the cluster'),
});

const overrides = z.strictObject(metadataOverrides);

/** EmbeddingServer: text-embeddings-inference for the optimizer. */
export const embeddingServer = defineKind({
  kind: 'EmbeddingServer',
  plural: 'embeddingservers',
  singular: 'embeddingserver',
  shortNames: ['emb', 'embedding'],
  summary: 'EmbeddingServer runs a server that turns texts into vectors.',
  spec: z.strictObject({
    model: text(512).default('BAAI/bge-small-en-v1.5').describe('id of the model at huggingface.co'),
    image: text(1024)
      .default('ghcr.io/huggingface/text-embeddings-inference:cpu-latest')
      .describe('image of the server'),
    imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent').describe('pull policy'),
    imagePullSecrets: imagePullSecrets.optional(),
    port: port.default(8080).describe('port of the server'),
    hfTokenSecretRef: secretKeyRef.optional().describe('token for huggingface.co, for models with restricted access'),
    args: z.array(z.string().max(4096)).max(100).optional().describe('more arguments of the server'),
    env: env.optional(),
    resources: resources.optional(),
    modelCache: modelCache.optional().describe('volume for the model; enabled by default'),
    podTemplateSpec: podTemplateSpec('embedding').optional(),
    resourceOverrides: z
      .strictObject({
        statefulSet: overrides.optional(),
        service: overrides.optional(),
        persistentVolumeClaim: overrides.optional(),
      })
      .optional()
      .describe('labels and annotations of the objects'),
    replicas: int32(1).default(1).describe('number of pods'),
  }),
  status: z.strictObject({
    phase: z
      .enum(['Pending', 'Downloading', 'Ready', 'Failed', 'Terminating'])
      .default('Pending')
      .describe('Downloading: pods were created and none is ready'),
    message: z.string().optional().describe('detail of the phase'),
    url: z.string().optional().describe('URL of the Service'),
    readyReplicas: int32().optional(),
    ...commonStatus,
  }),
  columns: [
    COLUMNS.phase,
    { name: 'Model', type: 'string', jsonPath: '.spec.model' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { ...COLUMNS.url, priority: 1 },
    COLUMNS.age,
  ],
});

export type EmbeddingServer = ObjectOf<typeof embeddingServer>;
