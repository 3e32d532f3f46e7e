// Only `@toolmgr/core`, inside a plain Node HTTP server that also serves other routes.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from '@toolmgr/core';
import { embedded } from './embedded.ts';
import { listAndCall } from './list-and-call.ts';

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

  await listAndCall('embed-node-http', `${origin}/mcp`);

  const reply = await gateway.perform({ name: 'read_graph' });
  assert.ok('result' in reply, 'code of the server calls a tool without HTTP');
} finally {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}
