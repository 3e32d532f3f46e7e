import { readRunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../../../support/proves.ts';
import { EVERY_FIELD, IMAGE, PACKAGE, PLACED, POD, PROGRAM, REMOTE } from './every-field.ts';

const problemsOf = (value: unknown): string => {
  const read = readRunConfig(value);
  return 'problems' in read ? read.problems.join('\n') : '';
};

describe('a run configuration', () => {
  it('is the same after it was written and read, with every field', () => {
    expect(Object.keys({ ...PROGRAM, ...REMOTE, ...IMAGE, ...PACKAGE, ...POD, ...PLACED }).sort()).toEqual(
      Object.keys(runConfig.shape).sort(),
    );
    for (const config of EVERY_FIELD) {
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
