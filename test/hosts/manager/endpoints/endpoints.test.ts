import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createLog } from '@toolmgr/core';
import { readWorkloads, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/workloads/state';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCallFeed } from '../../../../hosts/http/recent-calls/feed.ts';
import { createEndpoints, type Endpoints } from '../../../../hosts/manager/endpoints/endpoints.ts';
import { workloadCalls } from '../../../../hosts/manager/endpoints/workload-calls.ts';
import { toolmgr } from '../../run/toolmgr.ts';

const LONG = 90_000;
let state: string;
let server: Server;
let endpoints: Endpoints;
let origin: string;
const feed = createCallFeed();

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'toolmgr-endpoints-'));
  for (const name of ['everything', 'memory']) {
    const { code, err } = await toolmgr(state, 'run', '--name', name, `npx://@modelcontextprotocol/server-${name}`);
    expect([code, err]).toEqual([0, expect.anything()]);
  }
  endpoints = createEndpoints({ stateDir: state, log: createLog('error', () => {}), feed, loopback: true });
  server = createServer((request, response) => void endpoints.handle(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, LONG);

afterAll(async () => {
  await endpoints?.[Symbol.asyncDispose]();
  server?.closeAllConnections();
  server?.close();
  const names = (await readWorkloads(state)).map(({ name }) => name);
  if (names.length > 0) await toolmgr(state, 'rm', '--force', ...names);
  await rm(state, { recursive: true, force: true, maxRetries: 5 });
}, LONG);

async function clientAt(path: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, origin)));
  return client;
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

describe('the endpoints of the manager', () => {
  test(
    'serve a group behind one endpoint with prefixes, and follow its workloads',
    async () => {
      await endpoints.view('groups', 'default'); // waits for the lists of the backends
      const client = await clientAt('/mcp/groups/default');
      expect(await namesOf(client)).toEqual(expect.arrayContaining(['everything_echo', 'memory_read_graph']));
      const { content } = await client.callTool({ name: 'everything_echo', arguments: { message: 'hello' } });
      expect(content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }]);
      await toolmgr(state, 'stop', 'memory');
      await expect.poll(() => namesOf(client), { timeout: 20_000 }).not.toContain('memory_read_graph');
      await toolmgr(state, 'start', 'memory');
      await expect.poll(() => namesOf(client), { timeout: 20_000 }).toContain('memory_read_graph');
      await client.close();
    },
    LONG,
  );

  test(
    'serve one workload under the names of its server, and note the calls',
    async () => {
      const client = await clientAt('/mcp/workloads/everything');
      await expect.poll(() => namesOf(client), { timeout: 20_000 }).toContain('echo');
      await client.callTool({ name: 'echo', arguments: { message: 'again' } });
      await client.close();
      const [last] = feed.recent().slice(-1);
      expect(last).toMatchObject({
        method: 'tools/call',
        name: 'echo',
        backend: 'everything',
        outcome: 'ok',
        client: 'test 1',
      });
    },
    LONG,
  );

  test(
    'show calls through proxies and through endpoints, each once',
    async () => {
      const calls = workloadCalls(state, feed);
      const stop = new AbortController();
      const names: string[] = [];
      const following = (async () => {
        for await (const batch of calls.follow(0, stop.signal)) names.push(...batch.map(({ name }) => name));
      })();
      const url = (await readWorkloads(state)).find(({ name }) => name === 'everything')?.status.url ?? '';
      for (const [path, tool] of [
        [url, 'echo'],
        ['/mcp/groups/default', 'everything_echo'],
      ] as const) {
        const client = await clientAt(path);
        await client.callTool({ name: tool, arguments: { message: 'secret-argument' } });
        await client.close();
        await expect.poll(() => names.at(-1), { timeout: 20_000 }).toBe(tool);
      }
      stop.abort();
      await following;
      const listed = await calls.recent();
      expect(listed.slice(-2).map(({ name, client }) => [name, client])).toEqual([
        ['echo', 'test 1'],
        ['everything_echo', 'test 1'],
      ]);
      const file = await readFile(join(workloadDir(state, 'everything'), WORKLOAD_FILES.calls), 'utf8');
      expect(file).toContain('"client":"manager:default');
      expect(file).not.toContain('secret-argument');
    },
    LONG,
  );

  test(
    'say what clients see and why',
    async () => {
      const view = await endpoints.view('groups', 'default');
      expect(view).toMatchObject({ name: 'default', path: '/mcp/groups/default', isCut: false });
      expect(view?.backends.map(({ name, status }) => [name, status])).toEqual([
        ['everything', 'ready'],
        ['memory', 'ready'],
      ]);
      expect(view?.entries.find(({ key }) => key === 'everything_echo')).toMatchObject({
        kind: 'tool',
        original: 'echo',
        backend: 'everything',
        shapedBy: ['prefix'],
      });
    },
    LONG,
  );

  test.each([
    '/mcp/groups/nothere',
    '/mcp/workloads/nothere',
    '/mcp/groups/..',
    '/mcp/workloads/%2e%2e',
    '/mcp/groups/a/b',
  ])('answer 404 at %s', async (path) => {
    const answer = await fetch(origin + path, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(404);
  });

  test('refuse a page of another site', async () => {
    const headers = { 'content-type': 'application/json', origin: 'https://attacker.example' };
    const answer = await fetch(`${origin}/mcp/groups/default`, { method: 'POST', body: '{}', headers });
    expect(answer.status).toBe(403);
  });
});
