import { describe, expect, it } from 'vitest';
import { readRunConfig } from '../../../../plugins/workloads/state/read-run-config.ts';
import { type RunConfig, runConfig } from '../../../../plugins/workloads/state/run-config.ts';
import { proves } from '../../../support/proves.ts';

/** Every field of a program, each with a value that is not its default. */
const PROGRAM: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'one',
  base_name: 'one',
  container_name: 'one',
  group: 'dev',
  transport: 'streamable-http',
  process: { target: 'npx://x', file: '/bin/npx', args: ['-y', 'x'], cwd: '/srv', start_timeout: '1m' },
  cmd_args: ['--all'],
  env_vars: { A: '1' },
  env_file_dir: '/etc/one',
  isolate_network: false,
  allow_docker_gateway: false,
  debug: true,
  host: '0.0.0.0',
  port: 4000,
  proxy_mode: 'streamable-http',
  target_host: '127.0.0.2',
  target_port: 3000,
  allowed_origins: ['https://a.example'],
  trust_proxy_headers: false,
  session_ttl: '10m',
  stateless: true,
  sessions: 'shared',
  strict_protocol_validation: true,
  tools_filter: ['a'],
  tools_override: { a: { name: 'b', description: 'c' } },
  audit_config: {
    component: 'x',
    detectApplicationErrors: false,
    enabled: true,
    eventTypes: ['mcp_tool_call'],
    excludeEventTypes: ['mcp_ping'],
    includeRequestData: true,
    includeResponseData: true,
    logFile: '/var/audit',
    maxDataSize: 10,
    maxDelegationDepth: 2,
  },
  audit_config_path: '/etc/audit.json',
  authz_config: {
    version: '1.0',
    type: 'cedarv1',
    cedar: {
      policies: ['permit(principal, action, resource);'],
      entities_json: '[]',
      group_claim_name: 'groups',
      group_entity_type: 'Team',
      primary_upstream_provider: '',
      role_claim_name: 'roles',
    },
  },
  authz_config_path: '/etc/authz.yaml',
  oidc_config: {
    allowPrivateIP: true,
    audience: 'one',
    authTokenFile: '/etc/token',
    cacertPath: '/etc/ca.pem',
    clientID: 'id',
    clientSecret: 'OIDC_CLIENT_SECRET,target=clientSecret',
    insecureAllowHTTP: true,
    introspectionURL: 'http://id.example/introspect',
    issuer: 'http://id.example',
    jwksurl: 'http://id.example/keys',
    resourceURL: 'https://one.example/mcp',
    scopes: ['openid'],
  },
  jwks_auth_token_file: '/etc/token',
  tool_ca_bundle: '/etc/ca.pem',
  token_exchange_config: {
    audience: 'two',
    client_id: 'id',
    client_secret: 'TOKEN_EXCHANGE_CLIENT_SECRET,target=client_secret',
    external_token_header_name: 'X-Token',
    header_strategy: 'custom',
    scopes: ['a'],
    subject_token_type: 'id_token',
    token_url: 'https://id.example/token',
  },
  telemetry_config: {
    caCertPath: '/etc/ca.pem',
    customAttributes: { team: 'a' },
    enablePrometheusMetricsPath: true,
    endpoint: 'collector:4318',
    environmentVariables: ['REGION'],
    headers: { 'x-key': 'OTEL_HEADER_1,target=headers' },
    insecure: true,
    metricsEnabled: true,
    samplingRate: '0.5',
    serviceName: 'one',
    serviceVersion: '2',
    tracingEnabled: true,
    useLegacyAttributes: false,
  },
  mutating_webhooks: [
    {
      name: 'redact',
      url: 'https://hooks.example/redact',
      timeout: 5_000_000_000,
      failure_policy: 'ignore',
      tls_config: {
        ca_bundle_path: '/etc/ca.pem',
        client_cert_path: '/etc/cert.pem',
        client_key_path: '/etc/key.pem',
        insecure_skip_verify: false,
      },
      hmac_secret_ref: 'HOOK,target=hmac_secret',
      allow_private_ip: true,
    },
  ],
  validating_webhooks: [
    { name: 'approve', url: 'https://hooks.example/', timeout: 10_000_000_000, failure_policy: 'fail' },
  ],
  created_at: '2027-01-15T08:00:00.000Z',
};

const REMOTE: RunConfig = {
  ...runConfig.parse({ schema_version: 'v0.1.0', name: 'far', transport: 'sse' }),
  oidc_config: { issuer: 'https://id.example', audience: 'far' },
  aws_sts_config: { region: 'eu-west-1', fallback_role_arn: 'arn:aws:iam::123456789012:role/reader' },
  remote_addresses: 'public',
  remote_url: 'https://x.example/sse',
  endpoint_prefix: '/team',
  trust_proxy_headers: true,
  header_forward: { add_plaintext_headers: { 'X-Team': 'a' } },
  remote_auth_config: { bearer_token: 'REMOTE_AUTH_BEARER_TOKEN,target=bearer_token' },
};

const IMAGE: RunConfig = {
  ...runConfig.parse({ schema_version: 'v0.1.0', name: 'boxed', transport: 'streamable-http' }),
  oidc_config: { issuer: 'https://gateway.example', audience: 'https://gateway.example/mcp' },
  embedded_auth_server_config: {
    schema_version: 'v0.1.0',
    issuer: 'https://gateway.example',
    upstreams: [{ name: 'corp', type: 'oidc', oidc_config: { issuer_url: 'https://id.example', client_id: 'boxed' } }],
  },
  upstream_swap_config: { header_strategy: 'custom', custom_header_name: 'X-Token', provider_name: 'corp' },
  image: 'ghcr.io/org/server:1.2',
  image_digest: `sha256:${'0'.repeat(64)}`,
  registry_server_name: 'io.example/server',
  registry_url: 'https://registry.example.com/registry.json',
  registry_api_url: 'https://registry.example.com',
  secrets: ['TOKEN,target=API_TOKEN'],
  isolate_network: true,
  allow_docker_gateway: true,
  ignore_config: { loadGlobal: false, printOverlays: true },
  container_labels: { team: 'a' },
  volumes: ['/data:/data:ro'],
  publish: ['8080:80', '9'],
  permission_profile_name_or_path: 'network',
  permission_profile: {
    name: 'network',
    read: [],
    write: [],
    network: { mode: 'bridge', outbound: { insecure_allow_all: true, allow_host: ['a.example'], allow_port: [443] } },
    privileged: false,
  },
};

const PACKAGE: RunConfig = {
  ...runConfig.parse({ schema_version: 'v0.1.0', name: 'built', transport: 'stdio' }),
  image: 'uvx://mcp-server-time',
  runtime_config: {
    additional_packages: ['ripgrep'],
    build_with: ['pydantic<3'],
    builder_image: 'python:3.13-slim',
    runtime_env: { A: '1' },
  },
  build_ca_cert: '/etc/ca.pem',
};

const POD: RunConfig = {
  ...runConfig.parse({ schema_version: 'v0.1.0', name: 'placed', transport: 'stdio' }),
  pod: { namespace: 'team', name: 'placed-0', container: 'mcp' },
  rate_limit_config: {
    shared: { maxTokens: 10, refillPeriod: '1m' },
    tools: [{ name: 'echo', shared: { maxTokens: 1, refillPeriod: '1s' } }],
  },
  rate_limit_namespace: 'team',
  k8s_pod_template_patch: '{"spec":{}}',
  mcpserver_generation: 3,
  scaling_config: { backend_replicas: 2, session_redis: { address: 'redis:6379', db: 1, key_prefix: 'team:' } },
};

const PLACED: RunConfig = {
  ...runConfig.parse({ schema_version: 'v0.1.0', name: 'placed', transport: 'streamable-http' }),
  remote_url: 'http://mcp-placed-headless.team.svc:8080/mcp',
  oidc_config: { issuer: 'https://id.example', audience: 'placed' },
  remote_headers: [{ name: 'X-Team', required: true, default: 'blue', choices: ['blue', 'red'] }],
  outgoing_auth: { type: 'header_injection', options: { headerName: 'X-Key', headerValueEnv: 'KEY' } },
  plugins: [{ use: 'incoming-auth/anonymous' }, { use: 'authorization/cedar', with: { policies: [] } }],
  tools_override: { echo: { name: 'repeat', annotations: { readOnlyHint: true } } },
};

const problemsOf = (value: unknown): string => {
  const read = readRunConfig(value);
  return 'problems' in read ? read.problems.join('\n') : '';
};

describe('a run configuration', () => {
  it('is the same after it was written and read, with every field', () => {
    expect(Object.keys({ ...PROGRAM, ...REMOTE, ...IMAGE, ...PACKAGE, ...POD, ...PLACED }).sort()).toEqual(
      Object.keys(runConfig.shape).sort(),
    );
    for (const config of [PROGRAM, REMOTE, IMAGE, PACKAGE, POD, PLACED]) {
      expect(readRunConfig(JSON.parse(JSON.stringify(config)))).toEqual({ config });
    }
  });

  proves('choice.general.unknown-key-refused', 'refuses an unknown field with the nearest name, at any depth', () => {
    expect(problemsOf({ ...PROGRAM, sesion_ttl: '1h' })).toBe('unknown key "sesion_ttl", did you mean "session_ttl"?');
    expect(problemsOf({ ...PROGRAM, oidc_config: { isuer: 'x' } })).toContain('oidc_config: unknown key "isuer"');
    expect(problemsOf({ ...PROGRAM, mcpserver_generation: 1 })).toBe(
      'mcpserver_generation: is for containers of pods in Kubernetes',
    );
    expect(problemsOf({ ...PROGRAM, container_name: 'other' })).toContain('container_name: expected the name');
    expect(problemsOf({ ...PROGRAM, base_name: 'other' })).toContain('base_name: expected the name');
    expect(problemsOf({ ...PROGRAM, rate_limit_namespace: 'team' })).toContain('needs scaling_config.session_redis');
  });

  it('refuses what it cannot mean', () => {
    expect(problemsOf({ ...POD, outgoing_auth: PLACED.outgoing_auth })).toContain(
      'is for servers with an HTTP transport',
    );
    expect(problemsOf({ ...PLACED, token_exchange_config: { token_url: 'x' } })).toContain('excludes outgoing_auth');
    expect(problemsOf({ ...POD, env_vars: { A: '1' } })).toBe('env_vars: is set in the pod');
    expect(problemsOf({ ...POD, transport: 'sse' })).toContain('a container of a pod is attached to with stdio');
    expect(problemsOf({ ...POD, pod: { ...POD.pod, name: '../secrets/x' } })).toContain(
      'expected a name of Kubernetes',
    );
    expect(problemsOf({ ...POD, sessions: 'shared' })).toContain('sessions: is for programs and images');
    expect(problemsOf({ ...PACKAGE, image: 'x/y:1' })).toContain('runtime_config: is for packages');
    expect(problemsOf({ ...PROGRAM, build_ca_cert: '/x' })).toContain('build_ca_cert: is for packages');
    expect(problemsOf({ ...PROGRAM, process: undefined })).toContain(
      'expected one of process, image, remote_url and pod',
    );
    expect(problemsOf({ ...PROGRAM, remote_url: 'https://x.example' })).toContain('expected one of');
    expect(problemsOf({ ...REMOTE, cmd_args: ['a'] })).toContain('a remote server takes no arguments');
    expect(problemsOf({ ...PROGRAM, image: 'x:1' })).toContain('expected one of');
    expect(problemsOf({ ...PROGRAM, authz_config: { version: '1.0', type: 'httpv1' } })).toContain('expected cedarv1');
    expect(problemsOf({ ...PROGRAM, proxy_mode: 'tcp' })).toContain('proxy_mode');
    expect(problemsOf({ ...PROGRAM, proxy_mode: 'sse', endpoint_prefix: '//evil.test' })).toContain('endpoint_prefix');
    expect(problemsOf({ ...PROGRAM, session_ttl: 'soon' })).toContain('session_ttl: expected a Go duration');
    expect(problemsOf(undefined)).not.toBe('');
  });

  it('refuses a field that would have no effect beside the others', () => {
    const cases: readonly [object, string][] = [
      [{ ...REMOTE, env_vars: { A: '1' } }, 'env_vars: a remote server has no environment'],
      [{ ...PROGRAM, proxy_mode: 'sse' }, 'proxy_mode: sse is for servers with the transport stdio'],
      [{ ...PROGRAM, endpoint_prefix: '/a' }, 'endpoint_prefix: needs the transport sse or the proxy mode sse'],
      [{ ...PROGRAM, trust_proxy_headers: true }, 'trust_proxy_headers: needs the transport sse'],
      [{ ...REMOTE, secrets: ['A,target=B'] }, 'secrets: a remote server has no environment'],
      [{ ...REMOTE, target_port: 1 }, 'target_port: is for programs with an HTTP transport'],
      [{ ...REMOTE, stateless: true }, 'stateless: needs the transport streamable-http'],
      [{ ...REMOTE, transport: 'stdio' }, 'transport: a remote server has no transport stdio'],
      [{ ...PROGRAM, header_forward: { add_plaintext_headers: { a: 'b' } } }, 'header_forward: is for remote servers'],
      [{ ...PROGRAM, oidc_config: undefined }, 'token_exchange_config: needs oidc_config'],
      [{ ...PROGRAM, audit_config: undefined }, 'audit_config_path: needs audit_config'],
      [{ ...PROGRAM, authz_config: undefined }, 'authz_config_path: needs authz_config'],
      [{ ...PROGRAM, isolate_network: true }, 'isolate_network: is for container images'],
      [{ ...IMAGE, isolate_network: false }, 'allow_docker_gateway: needs isolate_network'],
      [{ ...IMAGE, permission_profile: { network: { mode: 'host' } } }, 'isolate_network: works only with'],
      [{ ...PACKAGE, tool_ca_bundle: '/x' }, 'tool_ca_bundle: needs oidc_config'],
    ];
    for (const [config, sentence] of cases) expect(problemsOf(config)).toContain(sentence);
  });

  it('isolates the network of an image unless it says otherwise or cannot', () => {
    const { isolate_network: _, allow_docker_gateway: __, ...image } = IMAGE;
    const isolated = (more: object) => {
      const read = readRunConfig({ ...image, ...more });
      return 'config' in read ? read.config.isolate_network : read.problems;
    };
    expect(isolated({})).toBe(true);
    expect(isolated({ permission_profile: undefined })).toBe(true);
    expect(isolated({ isolate_network: false })).toBe(false);
    expect(isolated({ permission_profile: { network: { mode: 'host' } } })).toBe(false);
  });

  it('holds no secret: only a reference is taken, and an error does not repeat the value', () => {
    const wrong = problemsOf({ ...REMOTE, remote_auth_config: { bearer_token: 's3cret' } });
    expect(wrong).toContain('remote_auth_config.bearer_token: expected a reference such as NAME,target=FIELD');
    expect(wrong).not.toContain('s3cret');
    const others = problemsOf({ ...PROGRAM, secrets: ['TOKEN=s3cret', 'A,target=B'] });
    expect(others).toContain('expected NAME,target=VARIABLE: a run configuration holds no secret');
    const headers = problemsOf({ ...REMOTE, header_forward: { add_headers_from_secret: { 'X-Key': 's3cret value' } } });
    expect(headers).toContain('expected the name of a secret');
    expect(others + headers).not.toContain('s3cret');
  });

  it('is read from the first format too', () => {
    const first = { format: 1, name: 'old', group: 'dev', target: 'npx://x', transport: 'sse', cwd: '/srv' };
    const more = { env: { A: '1' }, host: '::1', proxyPort: 1, targetPort: 2, createdAtMs: 0 };
    const command = { file: '/bin/npx', args: ['-y', 'x', 'all'] };
    const flags = { strictProtocolValidation: true, startTimeoutMs: 1500 };
    expect(readRunConfig({ ...first, ...more, ...flags, command })).toEqual({
      config: {
        ...runConfig.parse({ schema_version: 'v0.1.0', name: 'old', transport: 'sse' }),
        process: {
          target: 'npx://x',
          file: '/bin/npx',
          args: ['-y', 'x', 'all'],
          cwd: '/srv',
          start_timeout: '1500ms',
        },
        ...{ group: 'dev', env_vars: { A: '1' }, host: '::1', port: 1, target_port: 2, session_ttl: '30m' },
        strict_protocol_validation: true,
        created_at: '1970-01-01T00:00:00.000Z',
      },
    });
    expect(
      readRunConfig({ ...first, ...more, env: {}, targetPort: undefined, url: 'https://x.example' }),
    ).toMatchObject({
      config: { remote_url: 'https://x.example', session_ttl: '30m' },
    });
  });
});
