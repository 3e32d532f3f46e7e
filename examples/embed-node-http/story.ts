// Only `@toolmgr/core`, inside a plain Node HTTP server that also serves other routes.
import assert from 'node:assert/strict';
import { listAndCall } from './list-and-call.ts';
import { runServer } from './run-server.ts';

await runServer(import.meta.dirname, async (origin) => {
  assert.equal(await (await fetch(`${origin}/health`)).text(), 'fine', 'the routes of the server itself work');
  assert.equal((await fetch(`${origin}/elsewhere`)).status, 404, 'a path that is not served');
  await listAndCall('embed-node-http', `${origin}/mcp`);
});
