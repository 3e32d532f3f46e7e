import { readRunConfig } from '@toolmgr/plugins/workloads/state';
import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../../../plugins/shared/go-duration.ts';

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

describe('a configuration of another implementation', () => {
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
      'middleware_configs.0.type: the middleware obo has no field here',
    );
    expect(problemOf({ image, middleware_configs: [{ type: 'audt' }] })).toContain('did you mean audit?');
    expect(problemOf({ image, middleware_configs: [{ type: 'auth', parameters: { x: 1 } }] })).toContain(
      'middleware_configs.0.parameters: expected oidc_config',
    );
    expect(problemOf({ image, middleware_configs: {} })).toContain('expected a list');
    expect(problemOf({ image, additional_middleware_configs: [{ type: 'audit', kind: 'x' }] })).toContain(
      'additional_middleware_configs.0.kind: unknown member',
    );
  });
});
