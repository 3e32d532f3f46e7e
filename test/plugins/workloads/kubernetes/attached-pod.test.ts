import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakePod, type FakePodOptions, startFakePod } from '../../../support/fake-pod.ts';
import { until } from '../../../support/until.ts';

const LONG = 120_000;
const COUNTER = join(import.meta.dirname, '..', 'container', 'counter.mjs');
const PROGRAM = [process.execPath, COUNTER];

interface Served extends AsyncDisposable {
  readonly pod: FakePod;
  readonly url: string;
  readonly lines: string[];
}

async function serve(options: Partial<FakePodOptions> = {}): Promise<Served> {
  const pod = await startFakePod({ program: PROGRAM, ...options });
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1');
  vi.stubEnv('KUBERNETES_SERVICE_PORT', `${pod.port}`);
  const lines: string[] = [];
  const write = (text: string, about?: object): void => void lines.push(`${text} ${JSON.stringify(about ?? {})}`);
  const gateway = await createGateway(
    {
      name: 'pods',
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'workloads/kubernetes', with: { serviceAccountFolder: pod.serviceAccountFolder } },
        {
          use: 'backend-sources/workloads',
          with: {
            workloads: [
              {
                ...{ runtime: 'kubernetes', name: 'tools', transport: 'stdio', sessions: 'single' },
                pod: { namespace: 'team', name: 'tools-0', container: 'mcp' },
              },
            ],
          },
        },
      ],
    },
    { catalogue, log: { debug: write, info: write, warn: write, error: write } },
  );
  const http = createServer((request, response) => gateway.handle(request, response));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  return {
    pod,
    lines,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await gateway.stop();
      await pod[Symbol.asyncDispose]();
    },
  };
}

async function connected(url: string, capabilities: object = {}): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await until(async () => (await client.listTools().catch(() => ({ tools: [] }))).tools.length > 0, LONG);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function call(client: Client, name: string): Promise<string> {
  const { content } = await client.callTool({ name, arguments: {} });
  return (content as { text: string }[])[0]?.text ?? '';
}

/** Calls until the server answers again. */
async function firstAnswer(client: Client): Promise<string> {
  let answer = '';
  await until(async () => {
    answer = await call(client, 'count').catch(() => '');
    return /^\d+$/.test(answer);
  }, LONG);
  return answer;
}

describe('a stdio server in a pod', () => {
  beforeEach(() => vi.unstubAllEnvs());
  afterEach(() => vi.unstubAllEnvs());

  for (const protocol of ['v4.channel.k8s.io', 'v5.channel.k8s.io'] as const) {
    it(
      `is one process for all clients, whatever their capabilities (${protocol})`,
      async () => {
        await using served = await serve({ protocol });
        await using one = await connected(served.url);
        await using two = await connected(served.url, { sampling: {}, roots: {} });
        expect([await call(one, 'count'), await call(two, 'count'), await call(one, 'count')]).toEqual(['1', '2', '3']);
        expect(served.pod.requests.filter((line) => line.includes('/attach'))).toEqual([
          'GET /api/v1/namespaces/team/pods/tools-0/attach?container=mcp&stdin=true&stdout=true&stderr=true&tty=false',
        ]);
        expect(served.pod.starts()).toBe(1);
      },
      LONG,
    );
  }

  it(
    'is attached to again when its container restarts: the call in flight fails, later ones reach the new process',
    async () => {
      await using served = await serve();
      await using client = await connected(served.url);
      expect(await call(client, 'count')).toBe('1');
      const lost = call(client, 'slow').catch((cause: Error) => cause.message);
      await pause(300);
      served.pod.kill();
      expect(await lost).toMatch(/tools.*ended with exit code 137/);
      expect(await firstAnswer(client)).toBe('1');
    },
    LONG,
  );

  it(
    'gets a new process when the connection was cut, so that no late answer reaches another session',
    async () => {
      await using served = await serve();
      await using client = await connected(served.url);
      expect(await call(client, 'count')).toBe('1');
      served.pod.cut();
      expect(await firstAnswer(client)).toBe('1');
      expect(served.pod.starts()).toBe(2);
    },
    LONG,
  );

  it(
    'loses its pod when it does not end with its stdin',
    async () => {
      await using served = await serve({ ignoresEnd: true });
      await using client = await connected(served.url);
      expect(await call(client, 'count')).toBe('1');
      served.pod.cut();
      expect(await firstAnswer(client)).toBe('1');
      expect(served.pod.requests.filter((line) => line.startsWith('DELETE'))).toEqual([
        'DELETE /api/v1/namespaces/team/pods/tools-0',
      ]);
      expect(served.lines.join('\n')).toContain('did not end with its stdin');
    },
    LONG,
  );

  it(
    'is tried again after the API server refused, and the reason is logged without the token',
    async () => {
      await using served = await serve({ refusals: [{ status: 403, message: 'pods "tools-0" is forbidden' }] });
      await using client = await connected(served.url);
      expect(await call(client, 'count')).toBe('1');
      const log = served.lines.join('\n');
      expect(log).toContain('pods \\"tools-0\\" is forbidden');
      expect(log).not.toContain('the-token');
    },
    LONG,
  );
});
