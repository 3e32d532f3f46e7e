import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFromFlags } from '../../../hosts/workloads/config/config-from-flags.ts';
import type { RunFlags } from '../../../hosts/workloads/fields/options.ts';
import { exposureWarnings } from '../../../hosts/workloads/planning/add-workload.ts';
import { rowsOf, scriptOf, summaryOf } from '../../../hosts/workloads/planning/summary.ts';
import { planFromRun } from '../../../hosts/workloads/proxy/plan.ts';
import { startDeadlineMs } from '../../../hosts/workloads/proxy/start-deadline.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';
import { defaultFlags } from './default-flags.ts';

const NOW = 1_800_000_000_000;
const cwd = temporaryFolderOfFile('config');

beforeAll(async () => {
  await writeFile(join(cwd, 'my server.sh'), '#!/bin/sh\n');
  await chmod(join(cwd, 'my server.sh'), 0o755);
  await writeFile(join(cwd, 'plain.py'), 'print()');
});

const ALWAYS = {
  schema_version: 'v0.1.0',
  host: '127.0.0.1',
  proxy_mode: 'streamable-http',
  session_ttl: '2h',
  ...{ debug: false, isolate_network: false, allow_docker_gateway: false, stateless: false },
  ...{ strict_protocol_validation: false, trust_proxy_headers: false },
  created_at: new Date(NOW).toISOString(),
};

const config = (target: string, flags: Partial<RunFlags> = {}, args: readonly string[] = []) =>
  configFromFlags(target, args, { ...defaultFlags, ...flags }, cwd, NOW).then((made) => made.config);

describe('the configuration of a workload', () => {
  it('has the values of the flags', async () => {
    expect(await config('node', { env: { A: '1' }, proxyPort: 4000, group: 'dev' }, ['x.js', '-y'])).toEqual({
      ...{ ...ALWAYS, name: 'node', group: 'dev', transport: 'stdio', port: 4000 },
      process: { target: 'node', file: expect.stringMatching(/\/node$/), args: [], cwd },
      ...{ cmd_args: ['x.js', '-y'], env_vars: { A: '1' } },
    });
    expect(await config('https://api.example.com/v1/sse?key=1')).toEqual({
      ...{ ...ALWAYS, name: 'example', group: 'default', transport: 'sse' },
      ...{ remote_url: 'https://api.example.com/v1/sse?key=1', cmd_args: [], env_vars: {} },
    });
    expect((await config('node', { host: '[::1]' })).host).toBe('::1');
  });

  proves('run.option.name-generated', 'has a name made from its target when none is given', async () => {
    const names: Record<string, string> = {
      'npx://@modelcontextprotocol/server-everything': 'modelcontextprotocol-server-everything',
      'npx://@modelcontextprotocol/server-memory@2026.8.31': 'modelcontextprotocol-server-memory',
      './my server.sh': 'my-server',
      'https://mcp.github.com/': 'github',
      'https://api.foo.co/mcp': 'foo',
      'http://localhost:3000/mcp': 'localhost',
      'http://127.0.0.1:3000/mcp': '127.0.0.1',
      'http://[::1]:3000/mcp': '1',
    };
    for (const [target, name] of Object.entries(names)) expect((await config(target)).name, target).toBe(name);
    expect((await config('node', { name: 'given' })).name).toBe('given');
  });

  it('is refused when a setting would have no effect or is invalid', async () => {
    const wrong: readonly [string, Partial<RunFlags>, RegExp][] = [
      ['node', { name: '../up' }, /^--name \.\.\/up: a name has letters/],
      ['node', { name: 'x'.repeat(101) }, /at most 100 characters/],
      ['node', { group: 'a  b' }, /^--group a {2}b: /],
      ['node', { targetPort: 3000 }, /--target-port needs --transport/],
      ['https://x.example/mcp', { transport: 'stdio' }, /not stdio/],
      ['https://x.example/mcp', { env: { A: 's3cret' } }, /--env is for programs/],
      ['https://x.example/mcp', { targetPort: 1 }, /--target-port is for programs/],
      ['https://x.example/mcp', { runtime: 'process' }, /--runtime is for programs/],
      ['https://u:p4ss@x.example/mcp', {}, /must not hold a user name or password/],
      ['http://', {}, /looks like a URL but is not valid/],
      ['./plain.py', {}, /is not executable: chmod \+x it, or name its interpreter/],
      ['no-such-program', { runtime: 'process' }, /there is no program no-such-program here or on PATH/],
      ['a/b:1', { isolateNetwork: true, network: 'host' }, /--isolate-network: the network host cannot be isolated/],
      ['a/b:1', { isolateNetwork: true, network: 'mine' }, /the network mine cannot be isolated/],
      ['a/b:1', { isolateNetwork: false, allowDockerGateway: true }, /--allow-docker-gateway needs network isolation/],
      ['a/b:1', { network: 'host', allowDockerGateway: true }, /--allow-docker-gateway needs network isolation/],
      ['node', { allowDockerGateway: true }, /--allow-docker-gateway is for containers/],
      ['node', { printResolvedOverlays: true }, /--print-resolved-overlays is for containers/],
      ['Bad/Image:1', {}, /there is no program Bad\/Image:1/],
      ['-x', { runtime: 'container' }, /-x is not a reference of a container image/],
      ['a/b:1', { isolateNetwork: false, targetHost: 'x' }, /--target-host is for programs/],
      ['a/b:1', { isolateNetwork: false, volume: ['/absent-folder:/x'] }, /\/absent-folder does not exist/],
      ['a/b:1', { isolateNetwork: false, permissionProfile: 'nome' }, /there is no permission profile or file nome/],
      ['node', { network: 'host' }, /--network is for containers: images/],
      ['node', { isolateNetwork: true }, /a program or URL cannot be isolated/],
      ['uvx://-r x', {}, /expected uvx:\/\/PACKAGE.*What works: npx:/],
      ['go://server', {}, /expected go:\/\/HOST/],
      ['npx://-y', {}, /expected npx:\/\/PACKAGE/],
    ];
    for (const [target, flags, sentence] of wrong) {
      const refused = config(target, flags);
      await expect(refused, target).rejects.toThrow(sentence);
      await expect(refused).rejects.not.toThrow(/s3cret|p4ss/);
    }
    await expect(config('https://x.example/mcp', {}, ['arg'])).rejects.toThrow(/takes no arguments after --/);
  });

  it('warns about an endpoint that other machines can reach', () => {
    const warningsAt = (host: string, more = {}) => exposureWarnings({ host, ...more });
    expect(warningsAt('127.0.0.1')).toEqual([]);
    expect(warningsAt('localhost')).toEqual([]);
    expect(warningsAt('0.0.0.0').join()).toContain('everyone who can reach it');
    expect(warningsAt('0.0.0.0', { oidc_config: {} }).join()).not.toContain('everyone who can reach it');
  });

  proves(
    'run.option.allow-docker-gateway-needs-isolation',
    'isolates the network of an image where it can, and opens its gateway only then',
    async () => {
      const made = async (flags: Partial<RunFlags>) => {
        const { config: read, warnings } = await configFromFlags('a/b:1', [], { ...defaultFlags, ...flags }, cwd, NOW);
        return [read.isolate_network, read.allow_docker_gateway, warnings.join()];
      };
      expect(await made({})).toEqual([true, false, '']);
      expect(await made({ isolateNetwork: true, network: 'bridge' })).toEqual([true, false, '']);
      expect(await made({ allowDockerGateway: true })).toEqual([true, true, '']);
      expect(await made({ isolateNetwork: false })).toEqual([false, false, '']);
      expect(await made({ network: 'none' })).toEqual([false, false, '']);
      expect(await made({ network: 'host' })).toEqual([false, false, expect.stringContaining('cannot be isolated')]);
      expect(await made({ network: 'mine' })).toEqual([false, false, expect.stringContaining('--network mine')]);
      expect(await made({ env: { https_proxy: 'http://p' } })).toEqual([
        true,
        false,
        expect.stringContaining('--env https_proxy has no effect'),
      ]);
      await expect(made({ isolateNetwork: false, allowDockerGateway: true })).rejects.toThrow(
        '--allow-docker-gateway needs network isolation',
      );
    },
  );

  it('allows minutes to start a program that may have to be installed, or the time of the flag', () => {
    const program = { target: 'node', file: 'node', args: [], cwd: '/' };
    expect(startDeadlineMs({ process: program })).toBe(300_000);
    expect(startDeadlineMs({ process: { ...program, start_timeout: '1s' } })).toBe(1_000);
    expect(startDeadlineMs({})).toBe(60_000);
  });
});

describe('the plan of a workload', () => {
  const start = { runId: 'r1', logFile: '/log' };

  it('takes Host names of the permission profile, beside those of this machine', async () => {
    const profile = permissionProfile.parse({ network: { inbound: { allow_host: ['MCP.example'] } } });
    const { endpoint } = await planFromRun(workloadConfigOf('one', { permission_profile: profile }), start);
    expect(endpoint?.allowedHosts).toEqual(['127.0.0.1', 'localhost', '[::1]', 'mcp.example']);
  });

  it('isolates an image and passes on what it may reach', async () => {
    const profile = permissionProfile.parse({ network: { outbound: { allow_host: ['a.example'] } } });
    const image = { image: 'a/b:1', process: undefined, permission_profile: profile, allow_docker_gateway: true };
    const ofPlan = async (more: object) =>
      JSON.stringify(await planFromRun(workloadConfigOf('one', { ...image, ...more }), start));
    expect(await ofPlan({ isolate_network: true })).toContain(
      '"isolation":{"outbound":{"insecure_allow_all":false,"allow_host":["a.example"],"allow_port":[]},"allowGateway":true}',
    );
    expect(await ofPlan({ isolate_network: false })).not.toContain('"isolation"');
  });

  it('is a gateway with one backend and unchanged names', async () => {
    expect(
      await planFromRun(workloadConfigOf('one', { env_vars: { A: '1' }, target_port: 3000, transport: 'sse' }), start),
    ).toEqual({
      name: 'one',
      plugins: [
        { use: 'secrets/environment' },
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'workloads/process', with: { firstStartTimeoutMs: 300_000 } },
        {
          use: 'backend-sources/workloads',
          with: {
            workloads: [
              {
                ...{ runtime: 'process', name: 'one', group: 'default', transport: 'sse', cwd: '/', logFile: '/log' },
                command: { file: process.execPath, args: ['server.js'] },
                env: { A: '1', TOOLMGR_RUN_ID: 'r1' },
                targetPort: 3000,
              },
            ],
          },
        },
      ],
      outgoingAuth: { default: { type: 'unauthenticated' } },
      timeouts: { defaultMs: 600_000 },
      endpoint: { loopback: true, strictProtocolVersion: false, sse: { trustForwarded: false } },
      limits: { stopMs: 5_000, sessionIdleMs: 7_200_000, firstStartMs: 300_000 },
    });
  });

  it('has the plugins of the configuration in place of those of other fields', async () => {
    const cedar = { use: 'authorization/cedar', with: { policies: ['permit(principal, action, resource);'] } };
    const oidc = { use: 'incoming-auth/oidc', with: { issuer: 'https://id.example', clientId: 'x', audience: 'x' } };
    const { plugins } = await planFromRun(workloadConfigOf('one', { plugins: [cedar, oidc] }), start);
    expect(plugins.slice(0, 3)).toEqual([{ use: 'secrets/environment' }, cedar, oidc]);
    expect(plugins.map(({ use }) => use)).not.toContain('incoming-auth/anonymous');
  });

  it('restarts no program in the foreground', async () => {
    const inForeground = await planFromRun(
      workloadConfigOf('one', { process: { target: 'node', file: 'node', args: [], cwd: '/', start_timeout: '1s' } }),
      {
        ...start,
        restartsProgram: false,
      },
    );
    const settings = { firstStartTimeoutMs: 1_000, restart: { maxRestarts: 0 } };
    expect(inForeground.plugins).toContainEqual({ use: 'workloads/process', with: settings });
  });

  it('reaches a URL directly', async () => {
    const remote = workloadConfigOf('far', {
      process: undefined,
      remote_url: 'https://x.example/mcp',
      transport: 'streamable-http',
    });
    expect(await planFromRun({ ...remote, host: '0.0.0.0' }, start)).toMatchObject({
      plugins: expect.arrayContaining([
        { use: 'workloads/remote-url' },
        {
          use: 'backend-sources/workloads',
          with: {
            workloads: [
              {
                runtime: 'remote-url',
                name: 'far',
                group: 'default',
                transport: 'streamable-http',
                url: 'https://x.example/mcp',
              },
            ],
          },
        },
      ]),
      endpoint: { loopback: false },
    });
  });
});

describe('the list of workloads', () => {
  const record = {
    name: 'one',
    config: workloadConfigOf('one', {
      process: undefined,
      remote_url: 'https://x.example/mcp?key=s3cret',
      env_vars: { A: 's3cret' },
    }),
    status: {
      ...({ format: 1, status: 'running', port: 4000, url: 'http://127.0.0.1:4000/mcp', updatedAtMs: NOW } as const),
      ...{ proxy: { pid: 7, started: 's' }, runId: 'r' },
    },
    alive: true,
  };

  proves('choice.general.secrets-redacted', 'shows no variable, argument or query', () => {
    const shown = summaryOf(record);
    expect(JSON.stringify(shown)).not.toContain('s3cret');
    expect(shown).toMatchObject({ target: 'https://x.example/mcp', pid: 7, url: 'http://127.0.0.1:4000/mcp' });
  });

  it('shows no URL of a stopped workload', () => {
    const shown = summaryOf({
      ...record,
      alive: false,
      status: { ...record.status, status: 'error', message: 'gone' },
    });
    expect(shown).toMatchObject({ status: 'error', url: '', pid: null, port: 4000, status_context: 'gone' });
    expect(rowsOf([shown])[1]).toEqual(['one', 'default', 'error', '-', 'https://x.example/mcp']);
  });

  it.each([
    ['node', ['/srv/notes/server.mjs', '--token=hunter2.js'], 'server.mjs'],
    ['java', ['-jar', 'notes.jar'], 'notes.jar'],
    ['./server', ['hunter2', '-c', 'a b.py'], undefined],
    ['npx://notes.js', ['notes.js'], undefined],
  ] as const)('shows which script %s %j runs, and no other argument', (target, args, script) => {
    const config = { ...workloadConfigOf('one'), process: { target, file: target, args: [] }, cmd_args: args };
    expect(scriptOf(config as never)).toBe(script);
    const shown = { ...summaryOf({ ...record, config } as never), target };
    expect(rowsOf([shown], new Map(script === undefined ? [] : [['one', script]]))[1]?.at(-1)).toBe(
      script === undefined ? target : `${target} ${script}`,
    );
  });
});
