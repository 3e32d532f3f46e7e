// The plugins of toolmgr in a server of one's own: the plan names them, and the catalogue has them.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gateway } from './gateway.ts';

const server = createServer((request, response) => gateway.handle(request, response));
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

try {
  assert.equal((await fetch(`${origin}/mcp`, { method: 'PUT' })).status, 405, 'the endpoint is served');
  await gateway.settled();
  const reply = await gateway.perform({ name: 'memory_read_graph' });
  assert.ok('result' in reply, 'a tool has the name of its backend in front, and is called');
  console.log('embed-catalogue: called a tool through the plugins of the catalogue');
} finally {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}
