// The plugins of toolmgr in a server of one's own: the plan names them, and the catalogue has them.
import assert from 'node:assert/strict';
// region: server
import { createServer } from 'node:http';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';

const memory = {
  name: 'memory',
  transport: 'stdio',
  command: { file: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
};
const gateway = await createGateway(
  {
    name: 'embedded',
    plugins: [
      { use: 'incoming-auth/anonymous' }, // everyone may call
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/static', with: { backends: [memory] } },
      { use: 'aggregation', with: { conflictResolution: 'prefix' } },
    ],
    limits: { discoveryMs: 60_000 }, // the first list waits this long for npx, which downloads the package
  },
  { catalogue },
);

const server = createServer((request, response) => gateway.handle(request, response));
// endregion
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const origin = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`;

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
