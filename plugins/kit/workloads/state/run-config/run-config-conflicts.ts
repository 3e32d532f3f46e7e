import { canBeIsolated } from '../../permissions/network-mode.ts';
import { isSchemeTarget } from '../../schemes/scheme-target.ts';
import { fieldRules } from './field-rules.ts';
import type { RunConfig } from './run-config.ts';

const isRemote = (config: RunConfig): boolean => config.remote_url !== undefined;
const isInPod = (config: RunConfig): boolean => config.pod !== undefined;

/** A default says nothing: no entries, or `false`. */
function saysSomething(value: unknown): boolean {
  if (value === undefined || value === false) return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

const { needs, excludes, find } = fieldRules<keyof RunConfig, RunConfig>(
  (config, field) => config[field],
  String,
  saysSomething,
);

/** Fields that would have no effect beside the others, and why. */
const RULES: Parameters<typeof find>[0] = [
  [
    ['base_name'],
    ({ name, base_name: base = '' }) => !name.startsWith(base),
    'expected the name of the workload, or its beginning',
  ],
  [
    ['container_name'],
    ({ name, container_name: container }) => container !== name,
    'expected the name of the workload: its container has the same',
  ],
  [
    ['k8s_pod_template_patch', 'mcpserver_generation'],
    (config) => !isInPod(config),
    'is for containers of pods in Kubernetes',
  ],
  [
    ['scaling_config'],
    (config) => config.scaling_config?.backend_replicas !== undefined && !isInPod(config),
    'backend_replicas is for containers of pods in Kubernetes',
  ],
  [
    ['rate_limit_namespace'],
    (config) => config.scaling_config?.session_redis === undefined,
    'needs scaling_config.session_redis, whose keys get it',
  ],
  [['cmd_args'], isRemote, 'a remote server takes no arguments'],
  [['env_vars', 'env_file_dir', 'secrets'], isRemote, 'a remote server has no environment'],
  [['cmd_args', 'env_vars', 'env_file_dir', 'secrets'], isInPod, 'is set in the pod'],
  [['sessions'], isInPod, 'is for programs and images: a container of a pod has one session'],
  [
    [
      ...(['image_digest', 'container_labels', 'volumes', 'publish', 'permission_profile_name_or_path'] as const),
      ...(['permission_profile', 'isolate_network', 'allow_docker_gateway', 'ignore_config'] as const),
      ...(['resource_limits', 'read_only_root'] as const),
    ],
    ({ image }) => image === undefined,
    'is for container images',
  ],
  [
    ['runtime_config', 'build_ca_cert'],
    ({ image }) => image === undefined || !isSchemeTarget(image),
    'is for packages (uvx://, npx://, go://)',
  ],
  [
    ['isolate_network'],
    ({ permission_profile: profile }) => !canBeIsolated(profile?.network?.mode),
    'works only with the network mode bridge: set it to false, or leave out permission_profile.network.mode',
  ],
  [
    ['allow_docker_gateway'],
    ({ isolate_network }) => !isolate_network,
    'needs isolate_network: without it the gateway can be reached anyway',
  ],
  [
    ['target_host', 'target_port'],
    (config) => isRemote(config) || config.transport === 'stdio',
    'is for programs with an HTTP transport',
  ],
  [['stateless'], ({ transport }) => transport !== 'streamable-http', 'needs the transport streamable-http'],
  [
    ['proxy_mode'],
    ({ proxy_mode, transport }) => proxy_mode === 'sse' && transport === 'streamable-http',
    'sse is for servers with the transport stdio',
  ],
  [
    ['endpoint_prefix', 'trust_proxy_headers'],
    (config) => !servesSse(config),
    'needs the transport sse or the proxy mode sse',
  ],
  [
    ['header_forward', 'remote_addresses', 'remote_auth_config', 'remote_headers'],
    (config) => !isRemote(config),
    'is for remote servers',
  ],
  [
    ['token_exchange_config', 'upstream_swap_config', 'aws_sts_config'],
    (config) => config.oidc_config === undefined || config.transport === 'stdio',
    'needs oidc_config, and a server with an HTTP transport',
  ],
  needs(['upstream_swap_config'], 'embedded_auth_server_config', ', which has the tokens of the providers'),
  one(['upstream_swap_config', 'aws_sts_config'], 'token_exchange_config'),
  one(['aws_sts_config'], 'upstream_swap_config'),
  [
    ['token_exchange_config', 'aws_sts_config', 'upstream_swap_config'],
    (config) => config.embedded_auth_server_config?.disable_upstream_token_injection === true,
    'excludes embedded_auth_server_config.disable_upstream_token_injection',
  ],
  [
    ['outgoing_auth'],
    (config) => config.transport === 'stdio',
    'is for servers with an HTTP transport: a stdio server gets no requests with headers',
  ],
  one(['token_exchange_config', 'upstream_swap_config', 'aws_sts_config', 'remote_auth_config'], 'outgoing_auth'),
  needs(['embedded_auth_server_config'], 'oidc_config', ', which accepts its tokens'),
  [
    ['embedded_auth_server_config'],
    (config) => config.oidc_config?.issuer !== config.embedded_auth_server_config?.issuer,
    'issuer differs from oidc_config.issuer',
  ],
  needs(['jwks_auth_token_file', 'tool_ca_bundle'], 'oidc_config'),
  needs(['audit_config_path'], 'audit_config'),
  needs(['authz_config_path'], 'authz_config'),
];

function one(names: readonly (keyof RunConfig)[], other: keyof RunConfig) {
  return excludes(names, other, `excludes ${other}: a request has one credential`);
}

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
  const found = find(RULES, config);
  return found && `${found.name}: ${found.because}`;
}
