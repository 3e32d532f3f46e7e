import { z } from 'zod';

const text = z.string().min(1);
const texts = z.array(text);
const textMap = z.record(z.string(), z.string());
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' });
const flag = z.boolean();

const tls = z.strictObject({ ca_cert_file: text.optional(), insecure_skip_verify: flag.optional() });

const redisConfig = z.strictObject({
  acl_user_config: z.strictObject({ password_env_var: variable, username_env_var: variable.optional() }),
  addr: text.optional(),
  /** The only kind that the contract has. */
  auth_type: z.literal('aclUser').optional(),
  cluster_mode: flag.optional(),
  dial_timeout: text.optional(),
  key_prefix: text.optional(),
  read_timeout: text.optional(),
  write_timeout: text.optional(),
  sentinel_config: z
    .strictObject({ db: z.int().optional(), master_name: text, sentinel_addrs: texts.optional() })
    .optional(),
  sentinel_tls: tls.optional(),
  tls: tls.optional(),
});

const userInfo = z.strictObject({
  additional_headers: textMap.optional(),
  endpoint_url: text,
  field_mapping: z
    .strictObject({
      email_fields: texts.optional(),
      name_fields: texts.optional(),
      subject_fields: texts.optional(),
    })
    .optional(),
  http_method: text.optional(),
});

/** Fields of both kinds of providers. */
const client = {
  additional_authorization_params: textMap.optional(),
  allow_private_ips: flag.optional(),
  client_id: text.optional(),
  client_secret_env_var: variable.optional(),
  client_secret_file: text.optional(),
  insecure_allow_http: flag.optional(),
  redirect_uri: text.optional(),
  scopes: texts.optional(),
};

const dcrConfig = z.strictObject({
  discovery_url: text.optional(),
  initial_access_token_env_var: variable.optional(),
  initial_access_token_file: text.optional(),
  registration_endpoint: text.optional(),
  software_id: text.optional(),
  software_statement: text.optional(),
});

const upstream = z.strictObject({
  name: text,
  type: text,
  oauth2_config: z
    .strictObject({
      ...client,
      authorization_endpoint: text,
      token_endpoint: text,
      dcr_config: dcrConfig.optional(),
      identity_from_token: z
        .strictObject({ email_path: text.optional(), name_path: text.optional(), subject_path: text })
        .optional(),
      token_response_mapping: z
        .strictObject({
          access_token_path: text,
          expires_in_path: text.optional(),
          refresh_token_path: text.optional(),
          scope_path: text.optional(),
        })
        .optional(),
      userinfo: userInfo.optional(),
    })
    .optional(),
  oidc_config: z
    .strictObject({
      ...client,
      issuer_url: text,
      subject_claim: z.string().optional(),
      userinfo_override: userInfo.optional(),
    })
    .optional(),
});

/**
 * `embedded_auth_server_config`: an authorization server in front of one workload. Secrets are files and variables.
 *
 * The plugin `auth-server` checks the values. Source: workload API spec §2 EmbeddedAuth.
 */
export const embeddedAuthConfig = z.strictObject({
  schema_version: z.literal('v0.1.0').optional(),
  issuer: text,
  allowed_audiences: texts.optional(),
  authorization_endpoint_base_url: text.optional(),
  baseline_client_scopes: texts.optional(),
  cimd: z
    .strictObject({ cache_fallback_ttl: text.optional(), cache_max_size: z.int().optional(), enabled: flag })
    .optional(),
  delegation_token_lifespan: text.optional(),
  disable_upstream_token_injection: flag.optional(),
  hmac_secret_files: texts.optional(),
  insecure_allow_http: flag.optional(),
  scopes_supported: texts.optional(),
  signing_key_config: z
    .strictObject({ fallback_key_files: texts.optional(), key_dir: text.optional(), signing_key_file: text })
    .optional(),
  storage: z.strictObject({ type: text.optional(), redis_config: redisConfig.optional() }).optional(),
  token_lifespans: z
    .strictObject({
      access_token_lifespan: text.optional(),
      auth_code_lifespan: text.optional(),
      refresh_token_lifespan: text.optional(),
    })
    .optional(),
  upstreams: z.array(upstream).min(1, { error: 'expected at least one provider' }),
});

/** The token of a provider instead of the client's: in `Authorization`, or in a header of its own. */
export const upstreamSwapConfig = z
  .strictObject({
    custom_header_name: text.optional(),
    header_strategy: z.enum(['replace', 'custom']).default('replace'),
    /** Absent: the first provider. */
    provider_name: text.optional(),
  })
  .refine((given) => (given.header_strategy === 'custom') === (given.custom_header_name !== undefined), {
    error: 'header_strategy custom and custom_header_name need each other',
  });

/** AWS credentials for requests to the server. The strategy `aws_sts` checks the values. */
export const awsStsConfig = z.strictObject({
  fallback_role_arn: text.optional(),
  region: text,
  role_claim: text.optional(),
  role_mappings: z
    .array(
      z.strictObject({
        claim: text.optional(),
        matcher: text.optional(),
        priority: z.int().optional(),
        role_arn: text,
      }),
    )
    .optional(),
  service: text.optional(),
  session_duration: z.int().optional(),
  session_name_claim: text.optional(),
  subject_provider_name: text.optional(),
});
