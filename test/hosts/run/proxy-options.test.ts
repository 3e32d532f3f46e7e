import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { exposureWarnings } from '../../../hosts/workloads/planning/add-workload.ts';
import { openSession, postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { filesIn, planned, served } from './planned-gateway.ts';

const folder = temporaryFolderOfFile('options');
const fileWith = filesIn(folder);
const far = await recordingServer();

afterAll(() => far[Symbol.asyncDispose]());

/** Names and descriptions of the tools that a client sees. */
async function tools(url: string): Promise<Record<string, string | undefined>> {
  const { result } = JSON.parse((await postModern(url, 'tools/list')).text) as {
    result: { tools: { name: string; description?: string }[] };
  };
  return Object.fromEntries(result.tools.map(({ name, description }) => [name, description]));
}

async function called(url: string, name: string): Promise<string> {
  return (await postModern(url, 'tools/call', { name, arguments: { message: 'hi' } })).text;
}

proves('choice.limits.memory-flag', '--memory-budget is stored, and a larger body is refused', async () => {
  await using small = await served(['--memory-budget', '64KiB', far.url]);
  const answer = await fetch(small.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"jsonrpc":"2.0","id":1,"method":"ping"${' '.repeat(50_000)}}`,
  });
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('MEMORY_SPENT')]);
});

describe('the tools of a workload', () => {
  proves('run.option.tools', 'are only those of --tools, in lists and in calls', async () => {
    await using all = await served([far.url]);
    expect(Object.keys(await tools(all.url)).sort()).toEqual(['add', 'echo', 'fail', 'slow']);
    await using some = await served(['--tools', 'echo, add', '--tools', 'echo', far.url]);
    expect(Object.keys(await tools(some.url)).sort()).toEqual(['add', 'echo']);
    expect(await called(some.url, 'echo')).toContain('echo: hi');
    const before = far.calls.length;
    expect(await called(some.url, 'fail')).toContain('-32602');
    expect(far.calls.length).toBe(before);
  });

  proves('run.option.tools-override', 'have the names and descriptions of --tools-override', async () => {
    const file = await fileWith('override.json', {
      toolsOverride: { echo: { name: 'repeat', description: 'Repeats' }, add: { description: 'Adds' } },
    });
    await using given = await served(['--tools-override', file, '--tools', 'repeat,add', far.url]);
    expect(await tools(given.url)).toEqual({ repeat: 'Repeats', add: 'Adds' });
    expect(await called(given.url, 'repeat')).toContain('echo: hi');
    expect(await called(given.url, 'echo')).toContain('-32602');
  });

  it('are refused when the file of --tools-override is wrong', async () => {
    const cases: readonly [unknown, RegExp][] = [
      [{ tools: {} }, /unknown key "tools"|toolsOverride/],
      [{ toolsOverride: { a: {} } }, /toolsOverride\.a: expected a name or a description/],
      [{ toolsOverride: { a: { name: 'x' }, b: { name: 'x' } } }, /a and b both get the name x/],
      ['{', /neither JSON nor YAML/],
    ];
    for (const [content, sentence] of cases) {
      const file = await fileWith('wrong.json', content);
      await expect(planned(['--tools-override', file, far.url])).rejects.toThrow(sentence);
    }
    await expect(planned(['--tools-override', '/no/such', far.url])).rejects.toThrow(/cannot be read/);
  });
});

/** Status of a request with an Origin header. */
async function statusFrom(url: string, origin: string | undefined): Promise<number> {
  return (await postModern(url, 'tools/list', {}, origin === undefined ? {} : { headers: { origin } })).status;
}

describe('the endpoint of a workload', () => {
  proves(
    ['run.option.allowed-origins', 'run.option.allowed-origins-loopback'],
    'accepts the origins of --allowed-origins and no other besides its own, or MCP Inspector without it',
    async () => {
      const [listed, other] = ['https://app.example.com', 'https://app.example.com.evil'];
      await using open = await served([far.url]);
      const { port } = new URL(open.url);
      for (const origin of [undefined, `http://localhost:${port}`, `http://[::1]:${port}`, 'http://localhost:6274'])
        expect(await statusFrom(open.url, origin), origin).toBe(200);
      for (const origin of [listed, other, 'null', 'http://localhost:5173', 'http://127.0.0.1'])
        expect(await statusFrom(open.url, origin), origin).toBe(403);

      await using strict = await served(['--allowed-origins', `${listed},http://[::1]:9`, far.url]);
      for (const origin of [undefined, listed, 'http://[::1]:9'])
        expect(await statusFrom(strict.url, origin), origin).toBe(200);
      for (const origin of ['http://localhost:6274', other, `${listed}:444`, 'null'])
        expect(await statusFrom(strict.url, origin), origin).toBe(403);
      await expect(planned(['--allowed-origins', 'https://a.example/path', far.url])).rejects.toThrow(/without a path/);
    },
  );

  proves('run.option.allowed-origins-warning', 'has a warning beyond loopback without --allowed-origins', async () => {
    const warningsOf = async (...argv: string[]) => exposureWarnings((await planned([...argv, far.url])).config).join();
    expect(await warningsOf('--host', '0.0.0.0')).toContain('--allowed-origins is not given');
    expect(await warningsOf('--host', '0.0.0.0', '--allowed-origins', 'https://a.example')).not.toContain(
      'allowed-origins',
    );
    expect(await warningsOf()).toBe('');
  });

  proves(
    ['run.option.session-ttl', 'run.option.session-ttl-zero'],
    'ends a session after --session-ttl without requests; the default is 2h, and zero means the default',
    async () => {
      const idle = async (...argv: string[]) => (await planned([...argv, far.url])).plan.limits?.sessionIdleMs;
      expect(await idle()).toBe(7_200_000);
      expect(await idle('--session-ttl', '0')).toBe(7_200_000);
      expect(await idle('--session-ttl', '0s')).toBe(7_200_000);
      expect(await idle('--session-ttl', '90m')).toBe(5_400_000);
      for (const wrong of ['-1h', '2', 'soon'])
        await expect(planned([`--session-ttl=${wrong}`, far.url])).rejects.toThrow(/expected a duration with a unit/);
      await using short = await served(['--session-ttl', '200ms', far.url]);
      const session = await openSession(short.url);
      const ping = () => session.request('ping').then((answer) => answer.status);
      expect(await ping()).toBe(200);
      await delay(900);
      expect(await ping()).toBe(404);
    },
  );

  proves(
    ['run.option.stateless', 'run.option.stateless-post-only'],
    'answers only POST with --stateless, and uses one session of the server for all clients',
    async () => {
      const statuses = async (url: string) =>
        Promise.all(
          ['GET', 'HEAD', 'DELETE'].map(async (method) => {
            const answer = await fetch(url, { method, headers: { accept: 'text/event-stream' } });
            await answer.body?.cancel();
            return [answer.status, answer.headers.get('allow')];
          }),
        );
      await using plain = await served([far.url]);
      expect((await statuses(plain.url))[0]?.[0]).not.toBe(405);
      await using stateless = await served(['--stateless', far.url]);
      expect(await statuses(stateless.url)).toEqual(Array(3).fill([405, 'POST, OPTIONS']));
      expect(await called(stateless.url, 'echo')).toContain('echo: hi');
      expect(JSON.stringify(stateless.planned.plan.plugins)).toContain('"sessions":"shared"');
      await expect(planned(['--stateless', 'node'])).rejects.toThrow(/--stateless needs --transport streamable-http/);
    },
  );

  proves('run.option.proxy-mode-default', 'is streamable HTTP without --proxy-mode', async () => {
    expect((await planned([far.url])).config.proxy_mode).toBe('streamable-http');
    expect((await planned(['--proxy-mode', 'streamable-http', far.url])).config.proxy_mode).toBe('streamable-http');
    await expect(planned(['--proxy-mode', 'tcp', far.url])).rejects.toThrow(/streamable-http, sse/);
  });
});

describe('the address of a program', () => {
  proves(
    ['run.option.target-host', 'run.option.target-port'],
    'is --target-host and --target-port, for programs with an HTTP transport only',
    async () => {
      const http = ['--transport', 'streamable-http'];
      const server = join(import.meta.dirname, 'servers/http.mjs');
      await using here = await served([...http, '--target-host', '127.0.0.2', process.execPath, '--', server]);
      expect(await called(here.url, 'host')).toContain('127.0.0.2');
      await using there = await served([...http, process.execPath, '--', server]);
      expect(await called(there.url, 'host')).toContain('127.0.0.1');
      await expect(planned(['--target-host', '127.0.0.2', 'node'])).rejects.toThrow(/--target-host needs --transport/);
      await expect(planned(['--target-host', '127.0.0.2', far.url])).rejects.toThrow(/--target-host is for programs/);
    },
  );
});
