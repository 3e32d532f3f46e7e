import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import getPort from 'get-port';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspect } from '../../proof/wire/inspector.ts';
import { type Listening, listening, published } from '../../proof/wire/published.ts';
import { SDK_CLIENTS } from '../../proof/wire/sdk-clients.ts';
import { type ConformanceServer, startConformanceServer } from '../../support/conformance-server.ts';
import { proves } from '../../support/proves.ts';
import { rig } from '../../support/rig.ts';
import { connectSse, openSseSession } from '../../support/sse-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { planned, type ServedPlan, served } from './planned-gateway.ts';
import { toolmgrSession } from './toolmgr.ts';

const execute = promisify(execFile);
const LONG = 120_000;
const python = rig('mcp-python-1');
if ('missing' in python) console.warn(`skipped: the test with Python (${python.missing})`);
const LEGACY = SDK_CLIENTS['SDK 1.x'];
const MODERN = SDK_CLIENTS['SDK 2.x, modern'];
const { file: NODE, args: EVERYTHING } = published('everything');

/** A program as TARGET: the Everything server with one of its transports. */
const everything = (transport: 'stdio' | 'sse' | 'streamableHttp'): string[] => [NODE, '--', ...EVERYTHING, transport];

const session = toolmgrSession();
let streamable: Listening;
let sse: Listening;
let modern: ConformanceServer;

beforeAll(async () => {
  const start = async (transport: string): Promise<Listening> => {
    const port = await getPort({ host: '127.0.0.1' });
    const { file, args } = published('everything', [transport]);
    return listening({ file, args, env: { PORT: `${port}` } }, port);
  };
  [streamable, sse, modern] = await Promise.all([start('streamableHttp'), start('sse'), startConformanceServer()]);
}, LONG);
afterAll(async () => {
  for (const server of [streamable, sse, modern]) await server?.[Symbol.asyncDispose]();
}, LONG);

/** Every transport and source of a server; whether its clients find HTTP+SSE too. */
const SERVERS: readonly (readonly [string, () => readonly string[], boolean])[] = [
  ['a stdio program', () => everything('stdio'), false],
  ['a stdio program with the proxy mode sse', () => ['--proxy-mode', 'sse', ...everything('stdio')], true],
  ['an sse program', () => ['--transport', 'sse', ...everything('sse')], true],
  ['a streamable-http program', () => ['--transport', 'streamable-http', ...everything('streamableHttp')], false],
  ['a streamable-http URL', () => [streamable.url], false],
  ['an sse URL', () => [sse.url.replace(/mcp$/, 'sse')], true],
  ['a URL of a server that speaks both revisions', () => [modern.url], false],
];

/** Calls a tool that the Everything server or the conformance server has. */
async function called(client: Awaited<ReturnType<typeof LEGACY.connect>>): Promise<string> {
  const names = await client.toolNames();
  return names.includes('echo') ? client.call('echo', { message: 'hi' }) : client.call('test_simple_text');
}
const ANSWER = /^(Echo: hi|This is a simple text response for testing\.)$/;

describe.each(SERVERS)('%s', (_, argv, hasSse) => {
  proves(
    'ask.run.transports-both-revisions',
    'is served to clients of both revisions, and to clients of HTTP+SSE when it speaks that or the proxy mode says so',
    async () => {
      await using proxy = await served(argv());
      await using old = await LEGACY.connect(proxy.url);
      expect([old.version, await called(old)]).toEqual(['2025-11-25', expect.stringMatching(ANSWER)]);
      await using young = await MODERN.connect(proxy.url);
      expect([young.version, await called(young)]).toEqual(['2026-07-28', expect.stringMatching(ANSWER)]);
      if (!hasSse) {
        await expect(connectSse(`${proxy.origin}/sse`)).rejects.toThrow('status 404');
        return;
      }
      const client = new Client({ name: 'sse', version: '1' });
      await client.connect(new SSEClientTransport(new URL(`${proxy.origin}/sse`)));
      expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
        content: [{ text: 'Echo: hi' }],
      });
      await client.close();
    },
    LONG,
  );
});

describe('the proxy mode sse', () => {
  const openedSse = (proxy: ServedPlan, headers = {}) => openSseSession(`${proxy.origin}/sse`, headers);

  proves(
    ['run.option.proxy-mode', 'run.option.proxy-mode-sse-deprecated', 'ask.run.http-sse-apart'],
    'serves a stdio program over HTTP+SSE, prints that it is deprecated, and keeps clients apart',
    async () => {
      await using proxy = await served(['--proxy-mode', 'sse', ...everything('stdio')]);
      expect(proxy.planned.config.proxy_mode).toBe('sse');
      expect(proxy.planned.warnings.join()).toContain('the proxy mode sse is deprecated');
      expect((await planned(everything('stdio'))).warnings).toEqual([]);
      using one = await openedSse(proxy);
      using two = await openedSse(proxy);
      const call = (client: typeof one, message: string) =>
        client.request('tools/call', { name: 'echo', arguments: { message } }, 1);
      await Promise.all([call(one, 'for one'), call(two, 'for two')]);
      expect(one.text()).toContain('Echo: for one');
      expect(one.text()).not.toContain('for two');
      expect(two.text()).not.toContain('for one');
      const listed = await inspect(`${proxy.origin}/sse`, 'legacy', 'tools/list');
      expect(listed.printed).toContain('"echo"');
      expect(listed.code).toBe(0);
      one.close();
      await until(async () => (await one.send({ id: 2, method: 'ping' })).status === 404);
      expect(await two.request('ping')).toMatchObject({ result: {} });
    },
    LONG,
  );

  it(
    'is shown as the URL of the workload, by run and by list',
    async () => {
      const state = temporaryFolder('proxy-modes');
      try {
        const ran = await session(state, ['run', '--name', 'old', '--proxy-mode', 'sse', ...everything('stdio')]);
        expect(ran).toMatchObject({ code: 0, err: expect.stringContaining('deprecated') });
        const url = /old runs at (http:\/\/127\.0\.0\.1:\d+\/sse)\n/.exec(ran.out)?.[1] ?? '';
        const [listed] = JSON.parse((await session(state, ['list', '--format', 'json'])).out) as { url: string }[];
        expect(listed?.url).toBe(url);
        expect(ran.out).toContain(`toolmgr tools --url ${url.replace('/sse', '/mcp')}`);
        using client = await openSseSession(url);
        expect(await client.request('ping')).toMatchObject({ result: {} });
      } finally {
        await session(state, ['rm', '--force', 'old']);
      }
    },
    LONG,
  );

  it('is refused for servers over streamable HTTP', async () => {
    const url = 'https://mcp.example.com/mcp';
    await expect(planned(['--proxy-mode', 'sse', url])).rejects.toThrow(/--proxy-mode sse is for stdio servers/);
    await expect(planned(['--proxy-mode', 'tcp', url])).rejects.toThrow(/streamable-http, sse/);
  });
});

describe('a client of HTTP+SSE in Python', () => {
  it.skipIf('missing' in python)(
    'lists and calls the tools of a stdio program',
    async () => {
      const file = 'folder' in python ? join(python.folder, 'venv/bin/python') : '';
      await using proxy = await served(['--proxy-mode', 'sse', ...everything('stdio')]);
      const script = join(import.meta.dirname, '../../proof/python/sse-client.py');
      const { stdout } = await execute(file, [script, `${proxy.origin}/sse`], { timeout: LONG });
      expect(JSON.parse(stdout)).toMatchObject({
        version: '2025-11-25',
        tools: expect.arrayContaining(['echo']),
        echo: 'Echo: hi',
      });
    },
    LONG,
  );
});

describe('the URL that SSE clients send to', () => {
  const endpointOf = async (argv: readonly string[], headers: Record<string, string> = {}): Promise<string> => {
    await using proxy = await served([...argv, '--transport', 'sse', sse.url.replace(/mcp$/, 'sse')]);
    using client = await connectSse(`${proxy.origin}/sse`, headers);
    return client.endpoint.replace(/=.*/, '');
  };
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'tools.example.com',
    'x-forwarded-port': '8443',
    'x-forwarded-prefix': '/team',
  };

  proves(
    ['run.option.endpoint-prefix', 'run.option.trust-proxy-headers', 'run.option.trust-proxy-headers-which'],
    'has the path of --endpoint-prefix, and follows X-Forwarded headers with --trust-proxy-headers only',
    async () => {
      expect(await endpointOf([], forwarded)).toBe('/messages?session_id');
      expect(await endpointOf(['--endpoint-prefix', '/own/'], forwarded)).toBe('/own/messages?session_id');
      const trusting = ['--trust-proxy-headers'];
      expect(await endpointOf(trusting)).toBe('/messages?session_id');
      expect(await endpointOf(trusting, forwarded)).toBe('https://tools.example.com:8443/team/messages?session_id');
      for (const [name, value, expected] of [
        ['x-forwarded-proto', 'https', /^https:\/\/127\.0\.0\.1:\d+\/messages\?/],
        ['x-forwarded-host', 'tools.example.com', /^http:\/\/tools\.example\.com\/messages\?/],
        ['x-forwarded-port', '8443', /^http:\/\/127\.0\.0\.1:8443\/messages\?/],
        ['x-forwarded-prefix', '/team', /^\/team\/messages\?/],
        ['x-forwarded-prefix', '//evil.test', /^\/messages\?/],
        ['x-forwarded-for', '192.0.2.1', /^\/messages\?/],
      ] as const)
        expect(await endpointOf(trusting, { [name]: value }), name).toMatch(expected);
      expect(await endpointOf([...trusting, '--endpoint-prefix', '/own'], forwarded)).toBe(
        'https://tools.example.com:8443/own/messages?session_id',
      );
    },
    LONG,
  );

  it('is only for servers whose clients use it, and a prefix is a plain path', async () => {
    for (const flag of [['--endpoint-prefix', '/a'], ['--trust-proxy-headers']])
      await expect(planned([...flag, 'node'])).rejects.toThrow(/needs --transport sse or --proxy-mode sse/);
    for (const prefix of ['a', '//evil.test', '/a/../b', '/a?b', 'https://evil.test', '/%0d%0a'])
      await expect(planned(['--proxy-mode', 'sse', '--endpoint-prefix', prefix, 'node']), prefix).rejects.toThrow(
        /expected a path such as/,
      );
  });
});
