import { canBeIsolated } from '../../permissions/network-mode.ts';
import { isSchemeTarget } from '../../schemes/scheme-target.ts';
import type { RunConfig } from './run-config.ts';

/** A field that would have no effect beside the others, and why. */
interface Rule {
  readonly fields: readonly (keyof RunConfig)[];
  readonly when: (config: RunConfig) => boolean;
  readonly because: string;
}

const isRemote: Rule['when'] = (config) => config.remote_url !== undefined;

const isInPod: Rule['when'] = (config) => config.pod !== undefined;

const RULES: readonly Rule[] = [
  {
    fields: ['base_name'],
    when: ({ name, base_name: base = '' }) => !name.startsWith(base),
    because: 'expected the name of the workload, or its beginning',
  },
  {
    fields: ['container_name'],
    when: ({ name, container_name: container }) => container !== name,
    because: 'expected the name of the workload: its container has the same',
  },
  {
    fields: ['k8s_pod_template_patch', 'mcpserver_generation'],
    when: (config) => !isInPod(config),
    because: 'is for containers of pods in Kubernetes',
  },
  {
    fields: ['scaling_config'],
    when: (config) => config.scaling_config?.backend_replicas !== undefined && !isInPod(config),
    because: 'backend_replicas is for containers of pods in Kubernetes',
  },
  {
    fields: ['rate_limit_namespace'],
    when: (config) => config.scaling_config?.session_redis === undefined,
    because: 'needs scaling_config.session_redis, whose keys get it',
  },
  { fields: ['cmd_args'], when: isRemote, because: 'a remote server takes no arguments' },
  { fields: ['env_vars', 'env_file_dir', 'secrets'], when: isRemote, because: 'a remote server has no environment' },
  { fields: ['cmd_args', 'env_vars', 'env_file_dir', 'secrets'], when: isInPod, because: 'is set in the pod' },
  { fields: ['sessions'], when: isInPod, because: 'is for programs and images: a container of a pod has one session' },
  {
    fields: [
      'image_digest',
      ...(['container_labels', 'volumes', 'publish', 'permission_profile_name_or_path', 'permission_profile'] as const),
      ...(['isolate_network', 'allow_docker_gateway', 'ignore_config', 'resource_limits', 'read_only_root'] as const),
    ],
    when: (config) => config.image === undefined,
    because: 'is for container images',
  },
  {
    fields: ['runtime_config', 'build_ca_cert'],
    when: ({ image }) => image === undefined || !isSchemeTarget(image),
    because: 'is for packages (uvx://, npx://, go://)',
  },
  {
    fields: ['isolate_network'],
    when: ({ permission_profile: profile }) => !canBeIsolated(profile?.network?.mode),
    because: 'works only with the network mode bridge: set it to false, or leave out permission_profile.network.mode',
  },
  {
    fields: ['allow_docker_gateway'],
    when: ({ isolate_network }) => !isolate_network,
    because: 'needs isolate_network: without it the gateway can be reached anyway',
  },
  {
    fields: ['target_host', 'target_port'],
    when: (config) => isRemote(config) || config.transport === 'stdio',
    because: 'is for programs with an HTTP transport',
  },
  {
    fields: ['stateless'],
    when: ({ transport }) => transport !== 'streamable-http',
    because: 'needs the transport streamable-http',
  },
  {
    fields: ['proxy_mode'],
    when: ({ proxy_mode, transport }) => proxy_mode === 'sse' && transport === 'streamable-http',
    because: 'sse is for servers with the transport stdio',
  },
  {
    fields: ['endpoint_prefix', 'trust_proxy_headers'],
    when: (config) => !servesSse(config),
    because: 'needs the transport sse or the proxy mode sse',
  },
  {
    fields: ['header_forward', 'remote_addresses', 'remote_auth_config', 'remote_headers'],
    when: (config) => !isRemote(config),
    because: 'is for remote servers',
  },
  {
    fields: ['token_exchange_config', 'upstream_swap_config', 'aws_sts_config'],
    when: (config) => config.oidc_config === undefined || config.transport === 'stdio',
    because: 'needs oidc_config, and a server with an HTTP transport',
  },
  {
    fields: ['upstream_swap_config'],
    when: (config) => config.embedded_auth_server_config === undefined,
    because: 'needs embedded_auth_server_config, which has the tokens of the providers',
  },
  {
    fields: ['upstream_swap_config', 'aws_sts_config'],
    when: (config) => config.token_exchange_config !== undefined,
    because: 'excludes token_exchange_config: a request has one credential',
  },
  {
    fields: ['aws_sts_config'],
    when: (config) => config.upstream_swap_config !== undefined,
    because: 'excludes upstream_swap_config: a request has one credential',
  },
  {
    fields: ['token_exchange_config', 'aws_sts_config', 'upstream_swap_config'],
    when: (config) => config.embedded_auth_server_config?.disable_upstream_token_injection === true,
    because: 'excludes embedded_auth_server_config.disable_upstream_token_injection',
  },
  {
    fields: ['outgoing_auth'],
    when: (config) => config.transport === 'stdio',
    because: 'is for servers with an HTTP transport: a stdio server gets no requests with headers',
  },
  {
    fields: ['token_exchange_config', 'upstream_swap_config', 'aws_sts_config', 'remote_auth_config'],
    when: (config) => config.outgoing_auth !== undefined,
    because: 'excludes outgoing_auth: a request has one credential',
  },
  {
    fields: ['embedded_auth_server_config'],
    when: (config) => config.oidc_config === undefined,
    because: 'needs oidc_config, which accepts its tokens',
  },
  {
    fields: ['embedded_auth_server_config'],
    when: (config) => config.oidc_config?.issuer !== config.embedded_auth_server_config?.issuer,
    because: 'issuer differs from oidc_config.issuer',
  },
  {
    fields: ['jwks_auth_token_file', 'tool_ca_bundle'],
    when: (config) => config.oidc_config === undefined,
    because: 'needs oidc_config',
  },
  { fields: ['audit_config_path'], when: (config) => config.audit_config === undefined, because: 'needs audit_config' },
  { fields: ['authz_config_path'], when: (config) => config.authz_config === undefined, because: 'needs authz_config' },
];

/** Whether clients are served the transport HTTP+SSE. */
export function servesSse({ transport, proxy_mode }: Pick<RunConfig, 'transport' | 'proxy_mode'>): boolean {
  return transport === 'sse' || proxy_mode === 'sse';
}

/** Why the fields cannot be meant together; `undefined` when they can. */
export function findConflict(config: RunConfig): string | undefined {
  const forms = [config.process, config.image, config.remote_url, config.pod].filter((form) => form !== undefined);
  if (forms.length !== 1) return 'expected one of process, image, remote_url and pod, which say what is run';
  if (isRemote(config) && config.transport === 'stdio') return 'transport: a remote server has no transport stdio';
  if (isInPod(config) && config.transport !== 'stdio')
    return 'transport: a container of a pod is attached to with stdio';
  for (const { fields, when, because } of RULES) {
    const given = fields.find((field) => isGiven(config[field]));
    if (given !== undefined && when(config)) return `${given}: ${because}`;
  }
  return undefined;
}

/** Whether a value differs from a default that says nothing: no entries, or `false`. */
function isGiven(value: RunConfig[keyof RunConfig]): boolean {
  if (value === undefined || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
