import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { type ContainerSpec, type WorkloadSpec, workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { expect } from 'vitest';

import plugin from '../../../../plugins/workloads/container/index.ts';
import { type ContainerEngine, engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { bootPlugin } from '../../../support/plugin-core.ts';
import { until } from '../../../support/until.ts';

const IDLE_MS = 3_000;

interface Served extends AsyncDisposable {
  readonly url: string;
}

type Workload = Partial<WorkloadSpec> & Pick<WorkloadSpec, 'name' | 'transport' | 'container'>;

/** A gateway over one container workload, behind a real HTTP server. */
async function serve(engine: ContainerEngine, workload: Workload): Promise<Served> {
  const gateway = await createGateway(
    {
      name: 'containers',
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'workloads/container', with: { socket: engine.socket } },
        {
          use: 'backend-sources/workloads',
          with: { workloads: [{ runtime: 'container', group: 'default', env: {}, ...workload }] },
        },
      ],
    },
    { catalogue },
  );
  const http = createServer((request, response) => gateway.handle(request, response));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await gateway.stop();
      await new Promise((done) => http.close(done));
    },
  };
}

/** A client that sees the tools of the workload. */
async function connected(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await until(async () => (await client.listTools()).tools.length > 0, LONG);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

interface Listed {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

async function containersOf({ socket }: ContainerEngine): Promise<readonly Listed[]> {
  return JSON.parse((await engineCall(socket, 'GET', '/v1.41/containers/json?all=true')).text) as Listed[];
}

const image = (transport: string) => ({ image: SERVER_IMAGE, args: [transport] });

onEngines('workloads/container on', (on) => {
  const { runs } = on;

  runs(
    'serves an image over stdio, one container per client session, without those of an earlier start, and removes them at the end',
    async () => {
      const create = async (name: string, labels: Record<string, string>) =>
        engineCall(on.engine.socket, 'POST', `/v1.41/containers/create?name=${name}`, {
          Image: SERVER_IMAGE,
          Labels: labels,
        });
      await create('left-behind', { 'dev.toolmgr': 'true', 'dev.toolmgr.name': 'speaks', 'dev.toolmgr.run': 'killed' });
      await create('of-others', { 'dev.toolmgr.name': 'speaks' });
      await using served = await serve(on.engine, { name: 'speaks', transport: 'stdio', container: image('stdio') });
      {
        await using one = await connected(served.url);
        await using two = await connected(served.url);
        for (const client of [one, two]) {
          expect(await client.callTool({ name: 'echo', arguments: { message: 'hello' } })).toMatchObject({
            content: [{ text: 'Echo: hello' }],
          });
        }
        const names = (await containersOf(on.engine)).flatMap(({ Names }) => Names);
        expect(names).toContain('/speaks');
        expect(names).not.toContain('/left-behind');
        expect(names).toContain('/of-others');
        expect(names.length).toBeGreaterThanOrEqual(4); // the lists are read in a session of the gateway's own
      }
      await engineCall(on.engine.socket, 'DELETE', '/v1.41/containers/of-others?force=true');
      await served[Symbol.asyncDispose]();
      expect(await containersOf(on.engine)).toEqual([]);
    },
    LONG,
  );

  runs(
    'serves an image over sse',
    async () => {
      const container = image('sse');
      await using served = await serve(on.engine, { name: 'web-sse', transport: 'sse', targetPort: 3001, container });
      await using client = await connected(served.url);
      expect(await sumOf(client)).toContain('3');
    },
    LONG,
  );

  runs(
    'says that an image is neither here nor pullable, and that a name is in use',
    async () => {
      const core = await bootPlugin(plugin, { socket: on.engine.socket });
      const runtime = core.slot(workloadRuntimes).get('container');
      const spec = { group: 'default', env: {}, transport: 'streamable-http' } as const;
      const start = (name: string, container: ContainerSpec) =>
        runtime.start({ ...spec, name, container }, AbortSignal.timeout(60_000));
      await expect(start('absent', { image: '127.0.0.1:1/absent:1', args: [] })).rejects.toThrow(
        /there is no image 127.0.0.1:1\/absent:1 here, and it could not be pulled/,
      );
      await engineCall(on.engine.socket, 'POST', '/v1.41/containers/create?name=taken', { Image: SERVER_IMAGE });
      await expect(start('taken', image('stdio'))).rejects.toThrow(
        /a container named taken that toolmgr did not create/,
      );
      await engineCall(on.engine.socket, 'DELETE', '/v1.41/containers/taken?force=true');
    },
    LONG,
  );

  runs(
    'serves an image over streamable-http without capabilities, with labels that the user cannot override, and leaves the engine alone while it is idle',
    async () => {
      const container = { ...image('streamableHttp'), labels: { team: 'a', 'dev.toolmgr': 'no' } };
      await using web = await serve(on.engine, {
        name: 'safe',
        transport: 'streamable-http',
        targetPort: 3001,
        container,
      });
      await using one = await connected(web.url);
      const [{ Id, Labels }] = (await containersOf(on.engine)) as [Listed];
      expect(Labels).toMatchObject({ team: 'a', 'dev.toolmgr': 'true', 'dev.toolmgr.name': 'safe' });
      const { HostConfig } = JSON.parse(
        (await engineCall(on.engine.socket, 'GET', `/v1.41/containers/${Id}/json`)).text,
      );
      expect(HostConfig.SecurityOpt).toContain('no-new-privileges');
      expect(HostConfig.Privileged).toBe(false);
      expect(await sumOf(one)).toContain('3');

      await using stdio = await serve(on.engine, { name: 'idle', transport: 'stdio', container: image('stdio') });
      await using two = await connected(stdio.url);
      const before = on.engine.cpuMs();
      const sinceMs = performance.now();
      await pause(IDLE_MS); // what is measured is a time without requests
      const share = (on.engine.cpuMs() - before) / (performance.now() - sinceMs);
      expect(share).toBeLessThan(0.08);
      for (const client of [one, two]) expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    },
    LONG,
  );
});

async function sumOf(client: Client): Promise<string> {
  const { content } = await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } });
  return (content as { text: string }[])[0]?.text ?? '';
}
