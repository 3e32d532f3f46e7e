// A gateway inside an existing Hono app, by web-standard requests. The same works wherever `Request` and `Response` do.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, definePlugin, untilAborted } from '@toolmgr/core';
import { Hono } from 'hono';
import { z } from 'zod';
import { embedded } from '../embed-node-http/embedded.ts';
import { listAndCall } from '../embed-node-http/list-and-call.ts';

/** One more server, which reports progress. */
const everything = definePlugin({
  address: 'embed/everything',
  config: z.strictObject({}),
  apply({ slots }) {
    const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
    const command = { file: process.execPath, args: [server] };
    slots.backendSources.register('embed/everything', {
      async watch(push, signal) {
        push([{ name: 'everything', transport: 'stdio', command }]);
        await untilAborted(signal);
      },
    });
  },
});

const gatewayAt = (path: string) =>
  createGateway(
    { name: 'embedded', plugins: [{ use: 'embed/own' }, { use: 'embed/everything' }], endpoint: { path } },
    { plugins: [embedded, everything] },
  );

const [gateway, assistant] = await Promise.all([gatewayAt('/mcp'), gatewayAt('/api/assistant')]);
const app = new Hono();
let requests = 0;
app.use(async (_context, next) => {
  requests += 1;
  await next();
});

app.post('/orders', async (context) => context.json({ taken: await context.req.json() }));

// A Request does not have the address of its client. Limits per client and trusted proxies need it.
app.all('/mcp', (context) => gateway.fetch(context.req.raw, { address: getConnInfo(context).remote.address }));

// A mount removes its path from the URL. The endpoint's path is the full one.
app.mount('/api', (request) => assistant.fetch(request, { mountPath: '/api' }));

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
await new Promise((listening) => server.once('listening', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

try {
  const order = await fetch(`${origin}/orders`, { method: 'POST', body: '{"item":"tea"}' });
  assert.deepEqual(await order.json(), { taken: { item: 'tea' } }, 'the routes of the app itself work');

  for (const path of ['/mcp', '/api/assistant']) await listAndCall('embed-hono', origin + path);
  for (const mode of ['legacy', 'auto'] as const) await streamAndEnd(mode);
  assert.ok(requests > 10, 'the middleware of the app saw every request');
} finally {
  server.close();
  await Promise.all([gateway.stop(), assistant.stop()]);
}

/** A call with progress, a call that the client cancels, and the end of the session. */
async function streamAndEnd(mode: 'legacy' | 'auto'): Promise<void> {
  const { sessions } = gateway.counts(); // those of clients that left without ending them
  const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`));
  await client.connect(transport);
  const steps: number[] = [];
  const operation = (duration: number, signal?: AbortSignal) =>
    client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration, steps: 4 } },
      { onprogress: ({ progress }) => void steps.push(progress), ...(signal === undefined ? {} : { signal }) },
    );
  assert.notEqual((await operation(0.4)).isError, true);
  assert.deepEqual(steps, [1, 2, 3, 4], 'every step arrives as an event');

  const cancelled = new AbortController();
  const long = operation(60, cancelled.signal);
  await until(() => gateway.counts().callsInFlight === 1);
  cancelled.abort();
  await assert.rejects(long);
  await until(() => gateway.counts().callsInFlight === 0);

  console.log(`embed-hono: a ${client.getProtocolEra()} client got ${steps.length} events and cancelled a call`);
  await transport.terminateSession();
  await client.close();
  await until(() => gateway.counts().sessions === sessions && gateway.counts().streams === 0);
}

async function until(isSo: () => boolean): Promise<void> {
  const lateMs = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < lateMs, `waited for ${isSo}`);
    await setTimeout(20);
  }
}
