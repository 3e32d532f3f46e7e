import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readWorkloads, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecentCall } from '../../../../hosts/http/recent-calls/feed.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { toolmgr } from '../../run/toolmgr.ts';

const LONG = 180_000;
let manager: StartedManager;

beforeAll(async () => {
  manager = await startManager();
  for (const name of ['everything', 'memory']) {
    const { code, err } = await toolmgr(
      manager.state,
      'run',
      '--name',
      name,
      `npx://@modelcontextprotocol/server-${name}`,
    );
    expect([code, err]).toEqual([0, expect.anything()]);
  }
}, LONG);

afterAll(async () => {
  const names = (await readWorkloads(manager.state)).map(({ name }) => name);
  if (names.length > 0) await toolmgr(manager.state, 'rm', '--force', ...names);
  await manager?.[Symbol.asyncDispose]();
}, LONG);

async function clientAt(path: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, manager.url)));
  return client;
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

const viewOf = (path: string) => manager.request('GET', `/api/v1beta/endpoints/${path}`);

const calls = async (): Promise<readonly RecentCall[]> =>
  (await manager.request('GET', '/api/v1beta/calls')).body.calls;

describe('the endpoints of the manager', () => {
  test(
    'serve a group behind one endpoint with prefixes, and follow its workloads',
    async () => {
      await viewOf('groups/default'); // waits for the lists of the backends
      const client = await clientAt('/mcp/groups/default');
      expect(await namesOf(client)).toEqual(expect.arrayContaining(['everything_echo', 'memory_read_graph']));
      const { content } = await client.callTool({ name: 'everything_echo', arguments: { message: 'hello' } });
      expect(content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }]);
      await toolmgr(manager.state, 'stop', 'memory');
      await expect.poll(() => namesOf(client), { timeout: 20_000 }).not.toContain('memory_read_graph');
      await toolmgr(manager.state, 'start', 'memory');
      await expect.poll(() => namesOf(client), { timeout: 20_000 }).toContain('memory_read_graph');
      await client.close();
    },
    LONG,
  );

  test(
    'show calls through proxies and through endpoints, each once, without arguments',
    async () => {
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${manager.token}` };
      const stream = await fetch(`${manager.url}/api/v1beta/calls/stream`, { headers, signal: stop.signal });
      expect(stream.headers.get('content-type')).toContain('text/event-stream');
      let events = '';
      const reading = (async () => {
        const decoder = new TextDecoder();
        for await (const bytes of stream.body ?? []) events += decoder.decode(bytes);
      })().catch(() => {});
      const url = (await readWorkloads(manager.state)).find(({ name }) => name === 'everything')?.status.url ?? '';
      for (const [path, tool] of [
        [url, 'echo'],
        ['/mcp/workloads/everything', 'echo'],
        ['/mcp/groups/default', 'everything_echo'],
      ] as const) {
        const client = await clientAt(path);
        await expect.poll(() => namesOf(client), { timeout: 20_000 }).toContain(tool);
        const before = (await calls()).length;
        await client.callTool({ name: tool, arguments: { message: 'secret-argument' } });
        await client.close();
        await expect.poll(async () => (await calls()).length, { timeout: 20_000 }).toBe(before + 1);
        expect((await calls()).at(-1)).toMatchObject({
          name: tool,
          backend: 'everything',
          client: 'test 1',
          outcome: 'ok',
        });
      }
      await expect.poll(() => events, { timeout: 20_000 }).toContain('"name":"everything_echo"');
      stop.abort();
      await reading;
      const file = await readFile(join(workloadDir(manager.state, 'everything'), WORKLOAD_FILES.calls), 'utf8');
      expect(file).toContain('"client":"manager:default');
      expect(file + events).not.toContain('secret-argument');
    },
    LONG,
  );

  test(
    'say what clients see and why',
    async () => {
      const { status, body } = await viewOf('groups/default');
      expect(status).toBe(200);
      expect(body).toMatchObject({ name: 'default', path: '/mcp/groups/default', isCut: false });
      expect(body.backends.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
        ['everything', 'ready'],
        ['memory', 'ready'],
      ]);
      expect(body.entries.find(({ key }: { key: string }) => key === 'everything_echo')).toMatchObject({
        kind: 'tool',
        original: 'echo',
        backend: 'everything',
        shapedBy: ['prefix'],
      });
      expect((await viewOf('workloads/everything')).body.entries.map(({ key }: { key: string }) => key)).toContain(
        'echo',
      );
      expect((await viewOf('groups/nothere')).status).toBe(404);
      await manager.request('POST', '/api/v1beta/groups', { name: 'my tools' });
      expect((await viewOf('groups/my%20tools')).body).toMatchObject({
        name: 'my tools',
        path: '/mcp/groups/my%20tools',
      });
      expect(await namesOf(await clientAt('/mcp/groups/my%20tools'))).toEqual([]);
    },
    LONG,
  );

  test.each([
    '/mcp/groups/nothere',
    '/mcp/workloads/nothere',
    '/mcp/workloads/%2e%2e',
    '/mcp/groups/a/b',
    '/mcp/groups/',
  ])('answer 404 at %s', async (path) => {
    const headers = { authorization: `Bearer ${manager.token}` };
    const answer = await fetch(manager.url + path, { method: 'POST', body: '{}', headers });
    expect(answer.status).toBe(404);
  });

  proves(
    ['choice.wire.local-pages', 'choice.wire.origin-option'],
    'accept their own pages and MCP Inspector, whose preflights need no token, and no other page',
    async () => {
      const authorization = `Bearer ${manager.token}`;
      const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
      const from = async (origin: string, path: string) => {
        const asked = await fetch(manager.url + path, { method: 'OPTIONS', headers: { ...preflight, origin } });
        const headers = { 'content-type': 'application/json', authorization, origin };
        const answer = await fetch(manager.url + path, { method: 'POST', body: '{}', headers });
        return {
          asked: asked.status,
          allowed: answer.headers.get('access-control-allow-origin'),
          status: answer.status,
          text: await answer.text(),
        };
      };
      for (const path of ['/mcp/groups/default', '/mcp/workloads/everything', '/mcp/manager']) {
        for (const origin of ['https://attacker.example', 'http://localhost:5173', 'null']) {
          const refused = await from(origin, path);
          expect(refused).toMatchObject({ asked: 403, allowed: null, status: 403 });
          expect(refused.text).toContain('add it to toolmgr serve --allowed-origins');
        }
        for (const origin of ['http://localhost:6274', manager.url]) {
          expect(await from(origin, path), origin + path).toMatchObject({ asked: 204, allowed: origin, status: 400 });
        }
      }
      const api = await from('http://localhost:6274', '/api/v1beta/workloads');
      expect([api.asked, api.status, api.allowed]).toEqual([403, 403, null]);
    },
    LONG,
  );
});
