import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { readRunConfig } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../../../support/proves.ts';

const BASE = { schema_version: 'v0.1.0', name: 'one', transport: 'streamable-http' };

function configOf(value: object) {
  const read = readRunConfig({ ...BASE, ...value });
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.config;
}

function problemOf(value: object): string {
  const read = readRunConfig({ ...BASE, ...value });
  return 'problems' in read ? read.problems.join('\n') : '';
}

/** What is read of each file in `exports/`, which have the form of the reference implementation's exports. */
const EXPORTS: Readonly<Record<string, object>> = {
  'stdio-image': {
    image: 'docker.io/mcp/fetch:1.2.0',
    registry_server_name: 'io.github.org/fetch',
    isolate_network: true,
  },
  'streamable-http-image': { session_ttl: '30m', container_labels: { team: 'blue' }, env_vars: { EMPTY: '' } },
  'sse-image': { target_port: 8080, permission_profile: { read: ['/srv/docs'], write: [] }, endpoint_prefix: '/tools' },
  'package-npx': {
    session_ttl: '2h',
    tools_override: { echo: { name: 'say' } },
    secrets: ['api-token,target=API_TOKEN'],
  },
  'remote-oauth': {
    env_vars: {},
    remote_auth_config: { timeout: '5m', cached_refresh_token_ref: 'OAUTH_REFRESH_TOKEN_tracker,target=refresh_token' },
  },
  'remote-sse-headers': { header_forward: { add_headers_from_secret: { Authorization: 'calendar-token' } } },
  'oidc-cedar-audit': {
    oidc_config: { scopes: ['openid'] },
    authz_config: { type: 'cedarv1' },
    audit_config: { enabled: true },
  },
  'telemetry-exchange': { telemetry_config: { samplingRate: '0.05' }, tool_ca_bundle: '/etc/ssl/corporate.pem' },
  'limits-webhooks': {
    rate_limit_config: { tools: [{ name: 'search', shared: { maxTokens: 5, refillPeriod: '10s' } }] },
    validating_webhooks: [{ timeout: 10_000_000_000, tls_config: { ca_bundle_path: '/etc/ssl/hooks.pem' } }],
  },
  'embedded-auth-remote': {
    embedded_auth_server_config: { upstreams: [{ name: 'code', type: 'oidc' }] },
    upstream_swap_config: { provider_name: 'code' },
  },
};

describe('an export of the reference implementation', () => {
  const folder = join(import.meta.dirname, 'exports');

  proves('choice.manager.foreign-exports', 'is read, and read again after it is exported here', () => {
    const names = Object.keys(EXPORTS);
    expect(readdirSync(folder).toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
    for (const [file, expected] of Object.entries(EXPORTS)) {
      const given = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
      expect(given.middleware_configs.at(-1), file).toEqual({ type: 'recovery', parameters: null });
      const read = readRunConfig(given);
      if ('problems' in read) throw new Error(`${file}: ${read.problems.join('; ')}`);
      const { name, transport } = given;
      expect(read.config, file).toMatchObject({ name, transport, ...expected });
      expect(JSON.stringify(read.config), file).not.toMatch(/null|middleware_configs/);
      expect(readRunConfig(read.config), file).toEqual(read);
    }
  });
});

describe('a configuration of another implementation', () => {
  it('may have members without a value at any depth, which settings of plugins keep', () => {
    const plugins = [{ use: 'incoming-auth/anonymous', with: { a: null, b: '' } }];
    const config = configOf({
      image: 'example/server:1',
      plugins,
      rate_limit_config: { tools: [{ name: 'say', shared: { maxTokens: 1, refillPeriod: '1s' }, perUser: null }] },
      middleware_configs: [{ type: 'auth', parameters: { oidc_config: null } }],
    });
    expect(config.plugins).toEqual(plugins);
    expect(config).not.toHaveProperty('oidc_config');
  });

  it('may have nanoseconds, empty members, objects of durations and labels of its own', () => {
    const config = configOf({
      image: 'example/server:1',
      remote_url: '',
      registry_url: null,
      target_port: 0,
      container_labels: { toolmgr: 'true', 'toolmgr-name': 'one', team: 'blue' },
      env_vars: { EMPTY: '' },
      rate_limit_config: {
        shared: { maxTokens: 3, refillPeriod: { Duration: 60_000_000_000 } },
        tools: [{ name: 'say', perUser: { maxTokens: 1, refillPeriod: 1_500_000_000 } }],
      },
    });
    expect(config).toMatchObject({
      container_labels: { team: 'blue' },
      env_vars: { EMPTY: '' },
      rate_limit_config: {
        shared: { refillPeriod: '1m' },
        tools: [{ perUser: { refillPeriod: '1500ms' } }],
      },
    });
    expect(config).not.toHaveProperty('target_port');
    const remote = configOf({
      remote_url: 'https://far.example/mcp',
      remote_auth_config: { timeout: 300_000_000_000 },
    });
    expect(durationMs(remote.remote_auth_config?.timeout ?? '')).toBe(300_000);
  });

  it('may have defaults of local servers for a remote server, and labels of another product', () => {
    const remote = {
      remote_url: 'https://far.example/mcp',
      target_host: '127.0.0.1',
      target_port: 31_000,
      permission_profile: { name: 'network', network: { outbound: { insecure_allow_all: true } } },
      env_vars: { MCP_TRANSPORT: 'streamable-http', MCP_PORT: '31000', FASTMCP_PORT: '31000' },
      container_labels: { other: 'true', 'other-name': 'one', 'other-port': '31001' },
    };
    const config = configOf(remote);
    expect(config).toMatchObject({ env_vars: {}, container_labels: {} });
    for (const field of ['target_host', 'target_port', 'permission_profile']) expect(config).not.toHaveProperty(field);
    expect(problemOf({ ...remote, env_vars: { KEY: 'x' } })).toContain('a remote server has no environment');
    expect(problemOf({ ...remote, target_port: 80 })).toContain('target_port');
    expect(problemOf({ ...remote, target_host: 'far.example' })).toContain('target_host');
    expect(problemOf({ ...remote, permission_profile: { network: {} } })).toContain('permission_profile');
    expect(problemOf({ ...remote, container_labels: { team: 'blue' } })).toContain('container_labels');
    const stdio = configOf({ image: 'example/server:1', transport: 'stdio', target_host: '127.0.0.1' });
    expect(stdio).not.toHaveProperty('target_host');
  });

  it('may have middleware, which becomes the fields that it stands for', () => {
    const config = configOf({
      image: 'example/server:1',
      middleware_configs: [
        { type: 'recovery', parameters: {} },
        { type: 'auth', parameters: { oidc_config: { issuer: 'https://id.example', audience: 'one' } } },
        { type: 'tool-filter', parameters: { filter_tools: ['say'] } },
        { type: 'audit', parameters: { config_data: { enabled: true, component: 'x' } } },
        { type: 'usagemetrics', parameters: {} },
      ],
      additional_middleware_configs: [
        { type: 'ratelimit', parameters: { config: { shared: { maxTokens: 1, refillPeriod: '1s' } } } },
      ],
    });
    expect(config).toMatchObject({
      oidc_config: { issuer: 'https://id.example', audience: 'one' },
      tools_filter: ['say'],
      audit_config: { enabled: true, component: 'x' },
      rate_limit_config: { shared: { maxTokens: 1, refillPeriod: '1s' } },
    });
    expect(config).not.toHaveProperty('middleware_configs');
  });

  it('keeps a typed field that stands beside its middleware', () => {
    const config = configOf({
      image: 'example/server:1',
      tools_filter: ['a'],
      middleware_configs: [{ type: 'tool-filter', parameters: { filter_tools: ['b'] } }],
    });
    expect(config.tools_filter).toEqual(['a']);
  });

  it('is refused when its middleware has no field, or not the parameters that it needs', () => {
    const image = 'example/server:1';
    expect(problemOf({ image, middleware_configs: [{ type: 'obo', parameters: { a: 1 } }] })).toContain(
      'middleware_configs[0].type: the middleware obo has no field here',
    );
    expect(problemOf({ image, middleware_configs: [{ type: 'audt' }] })).toContain('did you mean audit?');
    expect(problemOf({ image, middleware_configs: [{ type: 'auth', parameters: { x: 1 } }] })).toContain(
      'middleware_configs[0].parameters: expected oidc_config',
    );
    expect(problemOf({ image, middleware_configs: {} })).toContain('expected a list');
    expect(problemOf({ image, additional_middleware_configs: [{ type: 'audit', kind: 'x' }] })).toContain(
      'additional_middleware_configs[0].kind: unknown member',
    );
  });
});
