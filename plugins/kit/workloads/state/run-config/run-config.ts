import { z } from 'zod';
import { SECRET_NAME } from '../../../secrets/secret-name.ts';
import { durationMs } from '../../../settings/go-duration.ts';
import { webhookList } from '../../../settings/webhook-settings.ts';
import { permissionProfile } from '../../permissions/profile.ts';
import { resourceLimits } from '../../permissions/resource-limits.ts';
import { DEFAULT_GROUP, groupName } from '../group-name.ts';
import { workloadName } from '../workload-name.ts';
import { awsStsConfig, embeddedAuthConfig, upstreamSwapConfig } from './embedded-auth-config.ts';
import { endpointPrefix } from './endpoint-prefix.ts';
import { podForm } from './pod-form.ts';
import { remoteAuthConfig } from './remote-auth-config.ts';
import { secretReference, variableReference } from './secret-reference.ts';

/** The version of the document that is written. */
export const RUN_CONFIG_VERSION = 'v0.1.0';

const text = z.string().min(1);
const texts = z.array(z.string());
const textMap = z.record(z.string(), z.string());
const duration = z
  .string()
  .refine((given) => durationMs(given) !== undefined, { error: 'expected a Go duration such as 2h or 30m' });
const port = z.int().min(1).max(65_535);

const auditConfig = z.strictObject({
  component: z.string().optional(),
  detectApplicationErrors: z.boolean().optional(),
  enabled: z.boolean().optional(),
  eventTypes: texts.optional(),
  excludeEventTypes: texts.optional(),
  includeRequestData: z.boolean().optional(),
  includeResponseData: z.boolean().optional(),
  logFile: z.string().optional(),
  maxDataSize: z.int().optional(),
  maxDelegationDepth: z.int().optional(),
});

/** Only the first two fields are of the contract; the rest of an authorization file depends on its `type`. */
const authzConfig = z.strictObject({
  version: z.literal('1.0'),
  type: z.literal('cedarv1', { error: 'expected cedarv1' }),
  cedar: z.strictObject({
    policies: texts,
    entities_json: z.string().optional(),
    group_claim_name: z.string().optional(),
    group_entity_type: z.string().optional(),
    primary_upstream_provider: z.string().optional(),
    role_claim_name: z.string().optional(),
  }),
});

const oidcConfig = z.strictObject({
  allowPrivateIP: z.boolean().optional(),
  audience: text.optional(),
  authTokenFile: text.optional(),
  cacertPath: text.optional(),
  clientID: text.optional(),
  clientSecret: secretReference.optional(),
  insecureAllowHTTP: z.boolean().optional(),
  introspectionURL: text.optional(),
  issuer: text.optional(),
  jwksurl: text.optional(),
  resourceURL: text.optional(),
  scopes: texts.optional(),
});

const telemetryConfig = z.strictObject({
  caCertPath: text.optional(),
  customAttributes: textMap.optional(),
  enablePrometheusMetricsPath: z.boolean().optional(),
  endpoint: text.optional(),
  environmentVariables: texts.optional(),
  headers: z.record(z.string(), secretReference).optional(),
  insecure: z.boolean().optional(),
  metricsEnabled: z.boolean().optional(),
  samplingRate: z.string().optional(),
  serviceName: text.optional(),
  serviceVersion: text.optional(),
  tracingEnabled: z.boolean().optional(),
  useLegacyAttributes: z.boolean().optional(),
});

const tokenExchangeConfig = z.strictObject({
  audience: text.optional(),
  client_id: text.optional(),
  client_secret: secretReference.optional(),
  external_token_header_name: text.optional(),
  header_strategy: z.enum(['replace', 'custom']).optional(),
  scopes: texts.optional(),
  subject_token_type: text.optional(),
  token_url: text,
});

const bucket = z.strictObject({ maxTokens: z.int().min(1), refillPeriod: duration });

const rateLimits = z.strictObject({
  shared: bucket.optional(),
  perUser: bucket.optional(),
  tools: z.array(z.strictObject({ name: text, shared: bucket.optional(), perUser: bucket.optional() })).optional(),
});

const runtimeConfig = z.strictObject({
  additional_packages: texts.optional(),
  build_with: texts.optional(),
  builder_image: text.optional(),
  runtime_env: textMap.optional(),
});

const flag = z.boolean().optional();

const toolOverride = z.strictObject({
  description: z.string().optional(),
  name: z.string().optional(),
  /** Ours. */
  annotations: z
    .strictObject({
      title: z.string().optional(),
      readOnlyHint: flag,
      destructiveHint: flag,
      idempotentHint: flag,
      openWorldHint: flag,
    })
    .optional(),
});

/** Settings that a plugin checks. */
const settings = z.record(z.string(), z.unknown());

/**
 * What a workload is and how it is served: `run.json`, `toolmgr export` and `--from-config`.
 *
 * Shape: the field names of the contract; `process`, `build_ca_cert` and `created_at` are ours. Durations are Go duration strings. Values
 * of `env_vars` may be secret, so the file has mode 0600; every other secret is a reference.
 * Source: workload API spec §2 "Exported run configuration".
 */
export const runConfig = z.strictObject({
  schema_version: z.literal(RUN_CONFIG_VERSION),
  name: workloadName,
  /** The name, or its beginning: other implementations add to it. Kept for them. */
  base_name: text.optional(),
  /** Name of the container: that of the workload. Kept for other implementations. */
  container_name: text.optional(),
  group: groupName.default(DEFAULT_GROUP),
  transport: z.enum(['stdio', 'sse', 'streamable-http']),
  /** URL of a remote server. */
  remote_url: z.string().optional(),
  /** Where the host of `remote_url` may lead; without it, anywhere. The contract has no such field. */
  remote_addresses: z.enum(['public', 'network']).optional(),
  /** Reference of a container image, or a package that is made into one: `npx://`, `uvx://`, `go://`. */
  image: text.optional(),
  /** The image that was verified: exactly this one is run. The contract has no such field. */
  image_digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, { error: 'expected sha256: and 64 hex digits' })
    .optional(),
  /** The entry of a registry that it was made from, and where that registry is; neither URL for one that is built in or a file. */
  registry_server_name: text.optional(),
  registry_url: text.optional(),
  registry_api_url: text.optional(),
  /** How the image of a package is made. */
  runtime_config: runtimeConfig.optional(),
  /** PEM file with certificates for the image of a package. */
  build_ca_cert: text.optional(),
  container_labels: textMap.optional(),
  /** `HOST:CONTAINER[:ro]`, with absolute paths. */
  volumes: texts.optional(),
  /** `hostPort:containerPort`, or a container port alone. */
  publish: texts.optional(),
  /** As it was given. */
  permission_profile_name_or_path: text.optional(),
  /** What it contained; `network.mode` is that of `--network`. */
  permission_profile: permissionProfile.optional(),
  /** The program of the runtime `process`, where the contract has only images. */
  process: z
    .strictObject({
      /** The TARGET as it was typed. */
      target: z.string(),
      file: z.string(),
      /** Arguments before those of `cmd_args`. */
      args: texts.default([]),
      cwd: z.string(),
      /** Time for its first start; 5 minutes when absent. */
      start_timeout: duration.optional(),
    })
    .optional(),
  /** The container of a pod of Kubernetes to attach to, which the operator makes. Ours. */
  pod: podForm.optional(),
  /** The patch that the pod was made with, and the generation of its resource. Kept for the operator. */
  k8s_pod_template_patch: text.optional(),
  mcpserver_generation: z.int().min(0).optional(),
  /** Arguments after `--`. */
  cmd_args: texts.default([]),
  env_vars: textMap.default({}),
  env_file_dir: text.optional(),
  /** Secrets of the user that become variables; the last of a variable counts. */
  secrets: z.array(variableReference).optional(),
  /** Absent: true for an image whose network can be isolated (`isolatedByDefault`), else false. */
  isolate_network: z.boolean().default(false),
  allow_docker_gateway: z.boolean().default(false),
  /** Which ignore files hide parts of the mounts, and whether what they hide is printed. */
  ignore_config: z
    .strictObject({ loadGlobal: z.boolean().default(true), printOverlays: z.boolean().default(false) })
    .optional(),
  /** Limits of the container; absent ones have their defaults. Ours. */
  resource_limits: resourceLimits.optional(),
  /** Nothing can be written but `/tmp` and mounts; absent: what the image says. Ours. */
  read_only_root: flag,
  debug: z.boolean().default(false),
  host: z.string().default('127.0.0.1'),
  /** 0 or absent: any free port, kept over restarts. */
  port: z.int().min(0).max(65_535).optional(),
  /** What clients of a stdio server are served; the others are served what the server speaks. */
  proxy_mode: z.enum(['streamable-http', 'sse']).default('streamable-http'),
  endpoint_prefix: endpointPrefix.optional(),
  target_host: text.optional(),
  target_port: port.optional(),
  allowed_origins: texts.optional(),
  trust_proxy_headers: z.boolean().default(false),
  session_ttl: duration.default('2h'),
  stateless: z.boolean().default(false),
  /** Of a stdio server: `shared` is one session for all clients. Ours. */
  sessions: z.enum(['perClient', 'shared']).optional(),
  /** Bytes of requests and results in flight in the proxy. Ours. */
  memory_budget_bytes: z.int().min(1).optional(),
  strict_protocol_validation: z.boolean().default(false),
  tools_filter: z.array(text).optional(),
  tools_override: z.record(z.string(), toolOverride).optional(),
  audit_config: auditConfig.optional(),
  audit_config_path: text.optional(),
  authz_config: authzConfig.optional(),
  authz_config_path: text.optional(),
  oidc_config: oidcConfig.optional(),
  jwks_auth_token_file: text.optional(),
  tool_ca_bundle: text.optional(),
  token_exchange_config: tokenExchangeConfig.optional(),
  embedded_auth_server_config: embeddedAuthConfig.optional(),
  upstream_swap_config: upstreamSwapConfig.optional(),
  aws_sts_config: awsStsConfig.optional(),
  /** Any strategy of `outgoing-auth/`, in place of the three above. Its secrets are variables. Ours. */
  outgoing_auth: z.strictObject({ type: z.string().regex(/^[a-z_]+$/), options: settings.optional() }).optional(),
  /**
   * Plugins as a plan has them, for what has no field here. One replaces the plugin of the same address that other fields ask for,
   * and one of `incoming-auth/` the one that decides who may call. Ours.
   */
  plugins: z.array(z.strictObject({ use: text, with: settings.optional() })).optional(),
  telemetry_config: telemetryConfig.optional(),
  /** Asked in this order, mutating ones first; `timeout` in nanoseconds. */
  mutating_webhooks: webhookList.optional(),
  validating_webhooks: webhookList.optional(),
  /** Limits of calls. With `scaling_config.session_redis` all replicas count together. */
  rate_limit_config: rateLimits.optional(),
  /** Keeps the counts and sessions of workloads of the same name apart in one Redis. */
  rate_limit_namespace: z
    .string()
    .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, { error: 'expected a namespace: letters, digits, "-", "."' })
    .optional(),
  scaling_config: z
    .strictObject({
      /** Replicas of the server, which Kubernetes starts: for a container of a pod. */
      backend_replicas: z.int().min(0).optional(),
      /** Where sessions of clients and counts of calls are kept, for several replicas. The password is a variable. */
      session_redis: z
        .strictObject({ address: text, db: z.int().min(0).optional(), key_prefix: text.optional() })
        .optional(),
    })
    .optional(),
  header_forward: z
    .strictObject({
      add_plaintext_headers: textMap.optional(),
      /** Names of secrets of the user by header. */
      add_headers_from_secret: z
        .record(z.string(), z.string().regex(SECRET_NAME, { error: 'expected the name of a secret' }))
        .optional(),
    })
    .optional(),
  /** Headers that a remote server needs. A default is sent where `header_forward` gives no value. Ours. */
  remote_headers: z
    .array(
      z.strictObject({
        name: text,
        description: z.string().optional(),
        required: flag,
        secret: flag,
        default: z.string().optional(),
        choices: texts.optional(),
      }),
    )
    .optional(),
  remote_auth_config: remoteAuthConfig.optional(),
  /** Not exported. */
  created_at: z.iso.datetime().optional(),
});

/** A workload as it was asked for. */
export type RunConfig = z.output<typeof runConfig>;
