// Only `@toolmgr/core`, inside a plain Node HTTP server that also serves other routes.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Backend, createGateway, definePlugin } from '@toolmgr/core';
import { z } from 'zod';

// region: plugin
const memory: Backend = {
  name: 'memory',
  transport: 'stdio',
  command: {
    file: process.execPath,
    args: [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))],
  },
};

/** The minimum: authentication of callers, authentication to backends, and the list of backends. */
const embedded = definePlugin({
  address: 'embed/own',
  config: z.strictObject({}),
  apply({ hooks, slots }) {
    hooks.authenticate.tap('embed/own', () => ({ issuer: '', subject: 'me', key: '\0me', claims: {} }));
    slots.authStrategies.register('unauthenticated', { prepare: async () => ({ apply: () => {} }) });
    slots.backendSources.register('embed/own', {
      async watch(push, signal) {
        push([memory]);
        await new Promise<void>((stopped) => signal.addEventListener('abort', () => stopped(), { once: true }));
      },
    });
  },
});
// endregion

// region: server
const gateway = await createGateway({ name: 'embedded', plugins: [{ use: 'embed/own' }] }, { plugins: [embedded] });

const server = createServer((request, response) => {
  if (request.url === '/health') return void response.end('fine');
  gateway.handle(request, response);
});
// endregion
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

try {
  assert.equal(await (await fetch(`${origin}/health`)).text(), 'fine', 'the routes of the server itself work');
  assert.equal((await fetch(`${origin}/elsewhere`)).status, 404, 'a path that is not served');

  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    const { tools } = await client.listTools();
    assert.ok(
      tools.some(({ name }) => name === 'read_graph'),
      `a client of the ${client.getProtocolEra()} era lists tools`,
    );
    const answer = await client.callTool({ name: 'read_graph', arguments: {} });
    assert.notEqual(answer.isError, true, `a client of the ${client.getProtocolEra()} era calls a tool`);
    console.log(`embed-node-http: a ${client.getProtocolEra()} client listed ${tools.length} tools and called one`);
    await client.close();
  }

  const reply = await gateway.perform({ name: 'read_graph' });
  assert.ok('result' in reply, 'code of the server calls a tool without HTTP');
} finally {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}
