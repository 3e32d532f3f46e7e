import { createRecord, type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { createSmall, LONG, removeAll } from './small.ts';

let manager: StartedManager;

const base = (name: string, more: object): RunConfig =>
  runConfig.parse({ schema_version: 'v0.1.0', name, transport: 'streamable-http', ...more });

const BOXED = base('boxed', {
  image: 'uvx://example-server',
  group: 'team',
  host: '127.0.0.2',
  port: 4_321,
  target_port: 8_080,
  proxy_mode: 'streamable-http',
  cmd_args: ['--deep'],
  env_vars: { LEVEL: 'debug' },
  secrets: ['stored,target=TOKEN'],
  volumes: ['/srv:/srv:ro'],
  permission_profile: {
    name: 'own',
    read: ['/a'],
    write: ['/b'],
    privileged: true,
    network: {
      mode: 'bridge',
      inbound: { allow_host: ['b.example'] },
      outbound: { insecure_allow_all: true, allow_host: ['a.example'], allow_port: [443] },
    },
  },
  isolate_network: true,
  allow_docker_gateway: true,
  authz_config: { version: '1.0', type: 'cedarv1', cedar: { policies: [] } },
  authz_config_path: '/etc/authz.yaml',
  oidc_config: {
    ...{ issuer: 'https://id.example', audience: 'one', jwksurl: 'https://id.example/keys' },
    ...{ introspectionURL: 'https://id.example/in', clientID: 'one', scopes: ['openid'] },
    clientSecret: 'stored-secret,target=clientSecret',
  },
  tools_filter: ['say'],
  tools_override: { say: { name: 'tell', description: 'tells' } },
  runtime_config: {
    ...{ builder_image: 'python:3.13-slim', additional_packages: ['ripgrep'], build_with: ['pydantic<3'] },
    runtime_env: { LEVEL: 'x' },
  },
  container_labels: { team: 'blue' },
  registry_server_name: 'io.example/server',
  created_at: '2026-01-01T10:00:00.000Z',
});

const FAR = base('far', {
  transport: 'sse',
  remote_url: 'https://far.example/sse?key=s3cr3t',
  trust_proxy_headers: true,
  remote_auth_config: {
    ...{ authorize_url: 'https://id.example/a', token_url: 'https://id.example/t', client_id: 'one' },
    ...{ client_secret: 'stored-secret,target=client_secret', resource: 'https://far.example/', scopes: ['read'] },
    ...{ oauth_params: { audience: 'far' }, callback_port: 8_666, skip_browser: true },
  },
  header_forward: { add_plaintext_headers: { 'X-Team': 'blue' }, add_headers_from_secret: { 'X-Key': 'stored' } },
  remote_headers: [
    {
      name: 'X-Team',
      description: 'the team',
      required: true,
      secret: false,
      default: 'blue',
      choices: ['blue', 'red'],
    },
  ],
});

const TOKEN = base('token', {
  remote_url: 'https://far.example/mcp',
  remote_auth_config: { bearer_token: 'stored,target=bearer_token' },
});

const ISSUER = base('issuer', {
  remote_url: 'https://far.example/mcp',
  remote_auth_config: { issuer: 'https://id.example' },
});

beforeAll(async () => {
  manager = await startManager();
  for (const config of [BOXED, FAR, TOKEN, ISSUER]) await createRecord(manager.state, config);
}, LONG);

afterAll(async () => {
  await removeAll(manager.state);
  await manager.stop();
}, LONG);

const detail = async (name: string) => (await manager.request('GET', `/api/v1beta/workloads/${name}`)).body;

const DETAILS = [
  ['manager.workload-detail.allow-docker-gateway', 'boxed', { allow_docker_gateway: true }],
  ['manager.workload-detail.network-isolation', 'boxed', { network_isolation: true }],
  ['manager.workload-detail.trust-proxy-headers', 'far', { trust_proxy_headers: true }],
  ['manager.workload-detail.authz-config', 'boxed', { authz_config: '/etc/authz.yaml' }],
  ['manager.workload-detail.group', 'boxed', { group: 'team' }],
  ['manager.workload-detail.host', 'boxed', { host: '127.0.0.2' }],
  ['manager.workload-detail.image', 'boxed', { image: 'uvx://example-server' }],
  ['manager.workload-detail.name', 'boxed', { name: 'boxed' }],
  ['manager.workload-detail.proxy-mode', 'boxed', { proxy_mode: 'streamable-http' }],
  ['manager.workload-detail.registry', 'boxed', { registry: 'default' }],
  ['manager.workload-detail.server', 'boxed', { server: 'io.example/server' }],
  ['manager.workload-detail.transport', 'far', { transport: 'sse' }],
  ['manager.workload-detail.url', 'far', { url: 'https://far.example/sse?key=[secret]' }],
  ['manager.workload-detail.cmd-arguments', 'boxed', { cmd_arguments: ['--deep'] }],
  ['manager.workload-detail.tools', 'boxed', { tools: ['say'] }],
  ['manager.workload-detail.volumes', 'boxed', { volumes: ['/srv:/srv:ro'] }],
  ['manager.workload-detail.env-vars', 'boxed', { env_vars: { LEVEL: 'debug' } }],
  ['manager.workload-detail.proxy-port', 'boxed', { proxy_port: 4_321 }],
  ['manager.workload-detail.target-port', 'boxed', { target_port: 8_080 }],
  [
    'manager.workload-detail.header-forward',
    'far',
    {
      header_forward: { add_plaintext_headers: { 'X-Team': 'blue' }, add_headers_from_secret: { 'X-Key': 'stored' } },
    },
  ],
  ['manager.workload-detail.headers', 'far', { headers: FAR.remote_headers }],
  [
    'manager.workload-detail.oauth-config-strings',
    'far',
    {
      oauth_config: {
        ...{ authorize_url: 'https://id.example/a', token_url: 'https://id.example/t', client_id: 'one', issuer: '' },
        resource: 'https://far.example/',
      },
    },
  ],
  [
    'manager.workload-detail.oauth-config-secrets',
    'far',
    { oauth_config: { client_secret: { name: 'stored-secret', target: 'client_secret' } } },
  ],
  [
    'manager.workload-detail.oauth-config-secrets',
    'token',
    { oauth_config: { bearer_token: { name: 'stored', target: 'bearer_token' } } },
  ],
  ['manager.workload-detail.oauth-config-strings', 'issuer', { oauth_config: { issuer: 'https://id.example' } }],
  ['manager.workload-detail.oauth-config-callback-port', 'far', { oauth_config: { callback_port: 8_666 } }],
  [
    'manager.workload-detail.oauth-config-params',
    'far',
    { oauth_config: { oauth_params: { audience: 'far' }, scopes: ['read'] } },
  ],
  ['manager.workload-detail.oauth-config-flags', 'far', { oauth_config: { skip_browser: true, use_pkce: true } }],
  [
    'manager.workload-detail.oidc',
    'boxed',
    {
      oidc: {
        ...{ audience: 'one', client_id: 'one', client_secret: 'stored-secret', issuer: 'https://id.example' },
        ...{ introspection_url: 'https://id.example/in', jwks_url: 'https://id.example/keys', scopes: ['openid'] },
      },
    },
  ],
  ['manager.workload-detail.permission-profile', 'boxed', { permission_profile: BOXED.permission_profile }],
  ['manager.permissions.name', 'boxed', { permission_profile: { name: 'own' } }],
  ['manager.workload-detail.runtime-config', 'boxed', { runtime_config: BOXED.runtime_config }],
  ['manager.workload-detail.secrets', 'boxed', { secrets: [{ name: 'stored', target: 'TOKEN' }] }],
  [
    'manager.workload-detail.tools-override',
    'boxed',
    { tools_override: { say: { name: 'tell', description: 'tells' } } },
  ],
  ['manager.secret-ref.fields', 'boxed', { secrets: [{ name: 'stored', target: 'TOKEN' }] }],
  [
    'manager.runtime-config.lists',
    'boxed',
    { runtime_config: { additional_packages: ['ripgrep'], build_with: ['pydantic<3'] } },
  ],
  ['manager.runtime-config.builder-image', 'boxed', { runtime_config: { builder_image: 'python:3.13-slim' } }],
  ['manager.runtime-config.runtime-env', 'boxed', { runtime_config: { runtime_env: { LEVEL: 'x' } } }],
] as const;

describe('the details of a workload', () => {
  for (const [id, name, expected] of DETAILS.filter(([each]) => each !== 'manager.permissions.name')) {
    proves(id, `show ${Object.keys(expected).join(', ')} of ${name}`, async () => {
      expect(await detail(name)).toMatchObject(expected);
    });
  }

  it('can be sent back unchanged for every kind of workload', async () => {
    for (const name of ['boxed', 'far', 'issuer']) {
      const before = await manager.request('GET', `/api/v1beta/workloads/${name}/export`);
      const answer = await manager.request('POST', `/api/v1beta/workloads/${name}/edit`, await detail(name));
      expect(answer.status, `${name}: ${answer.text}`).toBe(200);
      expect((await manager.request('GET', `/api/v1beta/workloads/${name}/export`)).body).toEqual(before.body);
    }
  });
});

const SUMMARIES = [
  ['manager.workload-summary.created-at', { created_at: '2026-01-01T10:00:00.000Z' }],
  ['manager.workload-summary.group', { group: 'team' }],
  ['manager.workload-summary.name', { name: 'boxed' }],
  ['manager.workload-summary.package', { package: 'uvx://example-server' }],
  ['manager.workload-summary.proxy-mode', { proxy_mode: 'streamable-http' }],
  ['manager.workload-summary.status-context', { status_context: '' }],
  ['manager.workload-summary.labels', { labels: { team: 'blue' } }],
  ['manager.workload-summary.port', { port: 4_321 }],
  ['manager.workload-summary.remote', { remote: false }],
  ['manager.workload-summary.tools', { tools: ['say'] }],
  ['manager.workload-summary.transport-type', { transport_type: 'streamable-http' }],
] as const;

describe('a workload of a list', () => {
  for (const [id, expected] of SUMMARIES) {
    proves(id, `has ${Object.keys(expected).join(', ')}`, async () => {
      const { body } = await manager.request('GET', '/api/v1beta/workloads?all=true');
      const found = body.workloads.find(({ name }: { name: string }) => name === 'boxed');
      expect(found).toMatchObject(expected);
    });
  }

  proves(
    [
      'manager.workload-summary.status',
      'manager.workload-summary.started-at',
      'manager.workload-summary.url',
      'manager.state.workload-running',
    ],
    'has the status running, its URL and the time of its start while it runs',
    async () => {
      const port = await createSmall(manager, 'small');
      const { body } = await manager.request('GET', '/api/v1beta/workloads');
      expect(body.workloads).toMatchObject([
        { name: 'small', status: 'running', url: `http://127.0.0.1:${port}/mcp`, port, transport_type: 'stdio' },
      ]);
      expect(Date.parse(body.workloads[0].started_at)).toBeGreaterThan(Date.now() - 120_000);
    },
    LONG,
  );

  proves('manager.state.stopped-workloads-exist', 'is listed only with all while it is stopped', async () => {
    const running = await manager.request('GET', '/api/v1beta/workloads');
    const all = await manager.request('GET', '/api/v1beta/workloads?all=true');
    const names = (answer: { body: { workloads: { name: string; status: string }[] } }) =>
      answer.body.workloads.map(({ name, status }) => `${name} ${status}`);
    expect(names(running)).toEqual(['small running']);
    expect(names(all)).toEqual(['boxed stopped', 'far stopped', 'issuer stopped', 'small running', 'token stopped']);
  });
});
