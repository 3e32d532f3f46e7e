import { isObject, type limitsSchema, planSchema } from '@toolmgr/core';
import { goDuration } from '@toolmgr/plugins';
import { z } from 'zod';
import { statusPagesSchema } from './status-pages-schema.ts';

/** What a plugin's own schema reads: kept as written here, checked by `read-config.ts`. */
const owned = z.unknown();

const text = z.string();
const name = z.string().min(1, 'expected a name that is not empty');
const texts = z.array(z.string());
const textMap = z.record(z.string(), z.string());
const int32 = (minimum: number) => z.int().min(minimum).max(2_147_483_647);

const incomingAuth = z.strictObject({
  type: z.enum(['anonymous', 'local', 'oidc']),
  oidc: owned.optional(),
  /** `type` says whether the plugin is there at all; the rest is the plugin's, checked by `read-config.ts`. */
  authz: z.looseObject({ type: z.enum(['cedar', 'none']) }).optional(),
});

const strategy = z.strictObject({
  type: z.enum(['unauthenticated', 'header_injection', 'token_exchange', 'upstream_inject', 'aws_sts', 'obo', 'xaa']),
  headerInjection: owned.optional(),
  tokenExchange: owned.optional(),
  upstreamInject: z.strictObject({ providerName: text }).optional(),
  awsSts: z
    .strictObject({
      region: text,
      fallbackRoleArn: text.optional(),
      roleClaim: text.optional(),
      roleMappings: z
        .array(
          z.strictObject({
            roleArn: text,
            claim: text.optional(),
            matcher: text.optional(),
            priority: z.int().optional(),
          }),
        )
        .optional(),
      service: text.optional(),
      sessionDuration: int32(0).optional(),
      sessionNameClaim: text.optional(),
      subjectProviderName: text.optional(),
    })
    .optional(),
  obo: z
    .strictObject({
      tokenUrl: text,
      audience: text.optional(),
      clientId: text.optional(),
      clientSecret: text.optional(),
      clientSecretEnv: text.optional(),
      scopes: texts.optional(),
      cacheSkewSeconds: int32(0).default(0),
      subjectTokenProviderName: text.optional(),
    })
    .optional(),
  xaa: z
    .strictObject({
      idpTokenUrl: text,
      targetAudience: text,
      targetTokenUrl: text,
      idpClientId: text.optional(),
      idpClientSecret: text.optional(),
      idpClientSecretEnv: text.optional(),
      targetClientId: text.optional(),
      targetClientSecret: text.optional(),
      targetClientSecretEnv: text.optional(),
      targetResource: text.optional(),
      scopes: texts.optional(),
      subjectProviderName: text.optional(),
      subjectTokenType: z.literal('urn:ietf:params:oauth:token-type:id_token').optional(),
      insecureTargetTokenUrl: z.boolean().default(false),
    })
    .optional(),
});

/** One entry of `outgoingAuth.default` or `outgoingAuth.backends`. */
export type StrategyConfig = z.output<typeof strategy>;

const operational = z.strictObject({
  logLevel: z.enum(['debug']).optional(),
  timeouts: z
    .strictObject({ default: goDuration.optional(), perWorkload: z.record(z.string(), goDuration).optional() })
    .optional(),
  failureHandling: owned.optional(),
});

/**
 * The vmcp file: the contract's `spec.config` at top level, and below the line what is ours.
 *
 * Shape: durations become whole milliseconds; sections of plugins stay as written.
 * Source: vmcp spec §2 `spec.config`.
 */
export const configSchema = z
  .strictObject({
    name,
    groupRef: name,
    metadata: textMap.optional(),
    aggregation: owned,
    audit: owned.optional(),
    backends: owned.optional(),
    codeMode: owned.optional(),
    compositeToolRefs: z.array(z.strictObject({ name })).optional(),
    compositeTools: owned.optional(),
    /** Only a file whose own plugin says who callers are may leave it out; `anonymous` beside it would let others in. */
    incomingAuth: incomingAuth.optional(),
    outgoingAuth: z.strictObject({
      source: z.enum(['inline', 'discovered']),
      default: strategy.optional(),
      backends: z.record(z.string(), strategy).optional(),
    }),
    operational: operational.optional(),
    optimizer: owned.optional(),
    passthroughHeaders: planSchema.shape.passthroughHeaders.optional(),
    rateLimiting: owned.optional(),
    sessionStorage: owned.optional(),
    telemetry: owned.optional(),
    // ours
    plugins: z.array(z.strictObject({ use: name, with: z.unknown().optional() })).optional(),
    limits: owned.optional(),
    endpoint: planSchema.shape.endpoint.unwrap().omit({ loopback: true }).optional(),
    maxToolNameLength: planSchema.shape.maxToolNameLength,
    statusPages: statusPagesSchema.optional(),
  })
  .refine((file) => file.incomingAuth !== undefined || (file.plugins ?? []).length > 0, {
    path: ['incomingAuth'],
    message: 'missing, expected a section; only a file with an authenticating plugin under plugins: may leave it out',
    when: ({ value }) => isObject(value),
  });

/** A vmcp file that was read. */
export type VmcpConfig = z.output<typeof configSchema> & {
  readonly audit?: { readonly enabled?: boolean };
  readonly codeMode?: { readonly enabled?: boolean };
  readonly backends?: readonly { readonly name: string; readonly transport: string; readonly type?: string }[];
  readonly compositeTools?: readonly { readonly steps: readonly { readonly type?: string }[] }[];
  readonly limits?: z.input<typeof limitsSchema>;
  readonly rateLimiting?: {
    readonly shared?: unknown;
    readonly perUser?: unknown;
    readonly tools?: readonly { readonly perUser?: unknown }[];
  };
  readonly sessionStorage?: { readonly provider: 'memory' | 'redis' };
  readonly optimizer?: { readonly embeddingProvider?: string; readonly embeddingService?: string };
  readonly telemetry?: Readonly<
    Partial<Record<'tracingEnabled' | 'metricsEnabled' | 'enablePrometheusMetricsPath', boolean>>
  > & { readonly endpoint?: string };
};
