import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { testClient } from '@toolmgr/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { vmcpConfig } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const cli = cliSession();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('vmcp');
});

const write = async (config: object, name = 'vmcp.yaml'): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, stringify(config));
  return file;
};

interface Status {
  readonly healthy: boolean;
  readonly backends: readonly { readonly name: string; readonly health: string }[];
}

const statusOf = async (url: string): Promise<Status> =>
  (await (await fetch(new URL('/status', url))).json()) as Status;

/** Waits until all backends have answered and returns the printed endpoint; `healthy` is true already with the first. */
const endpointOf = async (running: RunningCli): Promise<string> => {
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  await until(async () => (await statusOf(url)).backends.every(({ health }) => health === 'healthy'));
  return url;
};

const call = (url: string, tool: string, ...more: string[]) => cli(['call', tool, '--url', url, ...more]);

describe('toolmgr vmcp serve', () => {
  proves(
    [
      'ask.vmcp.serve-config',
      'choice.standalone.yaml-is-config',
      'vmcp.config.backends-when-inline',
      'vmcp.config-outgoing.backends',
      'vmcp.config-outgoing.default',
      'vmcp.config-outgoing.type-header-injection',
      'vmcp.config-outgoing.header-value-env',
      'vmcp.config-outgoing.type-unauthenticated',
      'vmcp.config-incoming.type-anonymous',
      'vmcp.service.one-endpoint',
    ],
    'serves the backends of a file as one server, each with its own credentials',
    async () => {
      await using github = await recordingServer();
      await using docs = await recordingServer();
      const outgoingAuth = {
        source: 'inline',
        default: { type: 'unauthenticated' },
        backends: {
          github: {
            type: 'header_injection',
            headerInjection: { headerName: 'Authorization', headerValueEnv: 'GITHUB_AUTHORIZATION' },
          },
        },
      };
      const file = await write(
        vmcpConfig({ github: github.url, docs: docs.url }, { outgoingAuth, passthroughHeaders: ['X-Tenant'] }),
      );
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
        env: { GITHUB_AUTHORIZATION: 'Bearer t0p-secret' },
      });
      const url = await endpointOf(serving);
      expect((await call(url, 'github_echo', 'message=hi', '--header', 'X-Tenant: blue')).out).toBe('echo: hi\n');
      expect((await call(url, 'docs_echo', 'message=ho')).out).toBe('echo: ho\n');
      expect(github.calls[0]?.authorization).toBe('Bearer t0p-secret');
      expect(github.calls[0]?.['x-tenant']).toBe('blue');
      expect(docs.calls[0]?.authorization).toBeUndefined();
      expect(serving.out() + serving.err()).not.toContain('t0p-secret');
      const status = (await (await fetch(new URL('/status', url))).json()) as object;
      expect(status).toMatchObject({
        group_ref: 'dev',
        backends: [
          { name: 'docs', health: 'healthy', auth_type: 'unauthenticated' },
          { name: 'github', health: 'healthy', auth_type: 'header_injection' },
        ],
      });
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-healthy',
    'is healthy with the first backend that answers, and reports a starting one as unknown',
    async () => {
      await using quick = await recordingServer();
      const config = vmcpConfig({ quick: quick.url });
      const command = { file: process.execPath, args: ['-e', 'process.stdin.resume()'] };
      const starting = { name: 'starting', transport: 'stdio', command };
      const file = await write({ ...config, backends: [...config.backends, starting] });
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      await until(async () => (await statusOf(url)).healthy);
      expect((await statusOf(url)).backends).toMatchObject([
        { name: 'quick', health: 'healthy' },
        { name: 'starting', health: 'unknown' },
      ]);
      expect(await (await fetch(new URL('/api/backends/health', url))).json()).toMatchObject({
        summary: { total: 2, healthy: 1, unknown: 1 },
      });
    },
    LONG,
  );

  proves(
    ['vmcp.operational.timeouts-default', 'vmcp.operational.timeouts-per-workload'],
    'cancels a call after the timeout of its backend, else the default timeout of 30 seconds',
    async () => {
      await using server = await recordingServer();
      const operational = { timeouts: { default: '200ms', perWorkload: { patient: '20s' } } };
      const file = await write(vmcpConfig({ hasty: server.url, patient: server.url }, { operational }));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const url = await endpointOf(serving);
      const hasty = await call(url, 'hasty_slow');
      expect(hasty.code).toBe(5);
      expect(hasty.out + hasty.err).toMatch(/time|200/i);
      expect(await call(url, 'patient_slow')).toMatchObject({ code: 0, out: 'late\n' });
      const unset = await write(vmcpConfig({ hasty: server.url }, { operational: { timeouts: {} } }));
      const plan = parse((await cli(['vmcp', 'plan', '-c', unset])).out);
      expect(plan).toMatchObject({ timeouts: { defaultMs: 30_000 } });
    },
    LONG,
  );

  proves(
    [
      'choice.endpoint.readyz-backends',
      'choice.endpoint.one-health',
      'choice.partial-failure.fail',
      'choice.partial-failure.healthy-calls',
      'vmcp.operational.log-level',
    ],
    'monitors its backends with operational.failureHandling, and every page shows the same',
    async () => {
      await using stays = await recordingServer();
      const goes = await recordingServer();
      const failureHandling = { healthCheckInterval: '300ms', healthCheckTimeout: '200ms', unhealthyThreshold: 2 };
      const more = { operational: { logLevel: 'debug', failureHandling }, limits: { listGraceMs: 0 } };
      const file = await write(vmcpConfig({ stays: stays.url, goes: goes.url }, more));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const url = await endpointOf(serving);
      const page = async (path: string) => {
        const answer = await fetch(new URL(path, url));
        return { code: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
      await until(async () => (await page('/readyz')).code === 200);
      expect((await page('/api/backends/health')).body).toMatchObject({ monitoring_enabled: true });
      await goes[Symbol.asyncDispose]();
      await until(async () => (await page('/readyz')).code === 503);
      const healthOf = async (): Promise<unknown> =>
        ((await page('/api/backends/health')).body as { backends: { goes: { status: unknown } } }).backends.goes.status;
      await until(async () => (await healthOf()) === 'unhealthy');
      expect((await page('/readyz')).body).toMatchObject({ reason: 'backends_unavailable', backends: ['goes'] });
      expect((await page('/status')).body).toMatchObject({
        backends: [{ name: 'goes', health: 'unhealthy' }, { name: 'stays' }],
      });
      expect((await page('/health')).code).toBe(200);
      const list = await cli(['tools', '--url', url]);
      expect(list.code).not.toBe(0);
      expect(list.out + list.err).toMatch(/incomplete.*goes/);
      const client = await testClient((request) => fetch(request), url);
      const result = await client.callTool('stays_echo', { message: 'hi' });
      expect(result.content).toEqual([{ type: 'text', text: 'echo: hi' }]);
      expect(serving.err()).toMatch(/catalogue built/); // a debug line
    },
    LONG,
  );

  proves(
    ['vmcp.audit.enabled', 'vmcp.audit.log-file-empty', 'ask.vmcp.serve-flags', 'ask.vmcp.session-ttl-flag'],
    'applies its flags; with --enable-audit each request is one line on stdout, without it none',
    async () => {
      await using server = await recordingServer();
      const file = await write(vmcpConfig({ one: server.url }));
      await using audited = startCli([
        'vmcp',
        'serve',
        '-c',
        file,
        '--port',
        '0',
        '--host',
        'localhost',
        '--enable-audit',
        '--session-ttl',
        '1h',
        '--debug',
      ]);
      const url = await endpointOf(audited);
      await call(url, 'one_echo', 'message=hi');
      const [line = ''] = await audited.printed(/^\{.*mcp_tool_call.*\}$/m);
      expect(JSON.parse(line)).toMatchObject({
        type: 'mcp_tool_call',
        outcome: 'success',
        target: { name: 'one_echo' },
        metadata: { extra: { backend_name: 'one' } },
      });
      audited.signal('SIGTERM');
      const stopped = await audited.finished;
      expect(stopped.code).toBe(0);
      const lines = stopped.out.trim().split('\n');
      expect(lines.every((each) => JSON.parse(each).msg === 'audit_event')).toBe(true);
      expect(lines.filter((each) => each.includes('mcp_tool_call'))).toHaveLength(1);

      const unsaid = await write(vmcpConfig({ one: server.url }, { audit: { includeRequestData: true } }));
      await using silent = startCli(['vmcp', 'serve', '-c', unsaid, '--port', '0', '--session-ttl', '0']);
      await call(await endpointOf(silent), 'one_echo', 'message=hi');
      silent.signal('SIGTERM');
      expect((await silent.finished).out).toBe('');
      expect(await cli(['vmcp', 'serve', '-c', file, '--session-ttl=-5m'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('must not be negative'),
      });
    },
    LONG,
  );

  proves(
    'choice.limits.memory-flag',
    'takes --memory-budget as a size: a call with a larger body is refused with the reason',
    async () => {
      await using server = await recordingServer();
      const file = await write(vmcpConfig({ one: server.url }));
      await using small = startCli(['vmcp', 'serve', '-c', file, '--port', '0', '--memory-budget', '64KiB']);
      const answer = await fetch(await endpointOf(small), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"jsonrpc":"2.0","id":1,"method":"ping"${' '.repeat(50_000)}}`,
      });
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('MEMORY_SPENT')]);
      expect(await cli(['vmcp', 'serve', '-c', file, '--memory-budget', 'much'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('256MiB'),
      });
    },
    LONG,
  );

  proves(
    'choice.reload.on-change',
    'reloads its file on change and on SIGHUP, and keeps the old one when the new one is invalid',
    async () => {
      await using server = await recordingServer();
      const file = await write(vmcpConfig({ one: server.url }));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const url = await endpointOf(serving);
      await write(vmcpConfig({ one: server.url, two: server.url }));
      await serving.printed(/configuration reloaded/);
      await until(async () => (await cli(['tools', '--url', url])).out.includes('two_echo'));
      await write({ ...vmcpConfig({ three: server.url }), agregation: {} });
      await serving.printed(/the previous configuration stays.*did you mean/s);
      serving.signal('SIGHUP');
      await until(() => (serving.err().match(/previous configuration stays/g) ?? []).length > 1);
      expect((await call(url, 'two_echo', 'message=still')).out).toBe('echo: still\n');
    },
    LONG,
  );

  proves(
    'choice.reload.keeps-call',
    'ends a call with the plugins it began with when the file changes',
    async () => {
      await using server = await recordingServer();
      const file = await write(vmcpConfig({ one: server.url }));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const url = await endpointOf(serving);
      const slow = call(url, 'one_slow');
      await until(() => server.calls.length === 1);
      await write(vmcpConfig({ other: server.url }));
      await serving.printed(/configuration reloaded/);
      expect(await slow).toMatchObject({ code: 0, out: 'late\n' });
      await until(async () => (await cli(['tools', '--url', url])).out.includes('other_slow'));
      expect((await cli(['tools', '--url', url])).out).not.toContain('one_slow');
    },
    LONG,
  );

  proves(
    'ask.vmcp.yaml-plugins',
    'loads the plugins of the file, also one by its relative path',
    async () => {
      await using server = await recordingServer();
      await writeFile(
        join(folder, 'refuse-fail.mjs'),
        `export default {
          address: 'refuse-fail',
          config: { safeParse: (data) => ({ success: true, data }) },
          apply(core, { word }) {
            core.hooks.authorize.tap('refuse-fail', (call) =>
              call.name.endsWith('fail') ? { refused: true, status: 403, reason: word } : undefined);
          },
        };`,
      );
      const file = await write(
        vmcpConfig({ one: server.url }, { plugins: [{ use: './refuse-fail.mjs', with: { word: 'not today' } }] }),
      );
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const url = await endpointOf(serving);
      const refused = await call(url, 'one_fail');
      expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('403')]);
      expect(server.calls).toHaveLength(0);
      expect((await call(url, 'one_echo', 'message=ok')).code).toBe(0);

      const explained = await cli(['vmcp', 'explain', 'one_fail', '--url', url, '--format', 'json']);
      expect(JSON.parse(explained.out)).toMatchObject({ mayRefuse: { authorize: ['refuse-fail'] } });
    },
    LONG,
  );

  it('reports a taken port and what to do, before any program is started', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const mark = join(folder, 'started');
    const command = { file: process.execPath, args: ['-e', `require('fs').writeFileSync('${mark}', '')`] };
    const file = await write({ ...vmcpConfig({}), backends: [{ name: 'one', transport: 'stdio', command }] });
    const ended = await cli(['vmcp', 'serve', '-c', file, '--port', String(port)]);
    other.close();
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(`port ${port} on 127.0.0.1 is taken`) });
    expect(ended.err).not.toContain('    at ');
    expect(existsSync(mark)).toBe(false);
  });

  it('does not start when a variable of its credentials is not set', async () => {
    const outgoingAuth = {
      source: 'inline',
      default: { type: 'header_injection', headerInjection: { headerName: 'X', headerValueEnv: 'TOOLMGR_TEST_UNSET' } },
    };
    const file = await write(vmcpConfig({ one: 'http://127.0.0.1:9/mcp' }, { outgoingAuth }));
    expect(await cli(['vmcp', 'serve', '-c', file, '--port', '0'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('TOOLMGR_TEST_UNSET is not set'),
    });
  });

  proves('ask.vmcp.serve-needs-one', 'needs a file or a group', async () => {
    expect(await cli(['vmcp', 'serve'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/-c FILE.*--group NAME/),
    });
  });

  proves('ask.vmcp.group-loopback-only', 'serves a group on loopback only', async () => {
    expect(await cli(['vmcp', 'serve', '--group', 'dev', '--host', '0.0.0.0'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('loopback only'),
    });
  });

  it.each(['--optimizer-embedding', '--embedding-model=x', '--embedding-image=x'])(
    'refuses %s by name, with what to use instead',
    async (flag) => {
      const ended = await cli(['vmcp', 'serve', '--group', 'x', flag]);
      expect(ended).toMatchObject({
        code: 1,
        err: expect.stringContaining(`${flag.split('=')[0]}: vmcp serve starts no embedding server; start one`),
      });
    },
  );

  proves(
    'ask.vmcp.serve-config-wins',
    'uses the file when both are given and reports that, warns when other machines can reach it without authentication, and stops on SIGINT',
    async () => {
      const file = await write(vmcpConfig({ one: 'http://127.0.0.1:9/mcp' }));
      const flags = ['--group', 'other', '--host', '0.0.0.0', '--port', '0'];
      await using serving = startCli(['vmcp', 'serve', '-c', file, ...flags]);
      await serving.printed(/dev-vmcp serves http/);
      expect(serving.err()).toContain('--group other is ignored');
      expect(serving.err()).toContain('warning everyone who can reach 0.0.0.0 may call');
      serving.signal('SIGINT');
      expect((await serving.finished).code).toBe(0);
    },
    LONG,
  );
});
