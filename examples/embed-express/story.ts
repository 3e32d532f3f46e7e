// A gateway inside an existing Express app, whose parser reads every JSON body before the gateway gets the request.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from '@toolmgr/core';
import express, { Router } from 'express';
import { embedded } from '../embed-node-http/embedded.ts';
import { listAndCall } from '../embed-node-http/list-and-call.ts';

const gatewayAt = (path: string) =>
  createGateway(
    { name: 'embedded', plugins: [{ use: embedded.address }], endpoint: { path } },
    { plugins: [embedded] },
  );

const [gateway, assistant] = await Promise.all([gatewayAt('/mcp'), gatewayAt('/api/assistant')]);
const app = express();

// Mounted before the parser, the gateway reads bodies itself, within its own limits.
app.use('/mcp', (request, response) => gateway.handle(request, response));

app.use(express.json({ limit: '4mb' }));
app.post('/orders', (request, response) => void response.json({ taken: request.body }));

// Mounted after it, the gateway gets the parsed body. The endpoint's path is the full one, also below a router.
const api = Router();
api.use('/assistant', (request, response) => assistant.handle(request, response, { body: request.body }));
app.use('/api', api);

// Without the parsed body the gateway answers an error with the solution, instead of waiting for bytes.
app.use('/forgotten', (request, response) => gateway.handle(request, response, { mountPath: '/mcp' }));

const server = createServer(app).listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

try {
  const post = (path: string, body: string) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
    });
  const order = await post('/orders', '{"item":"tea"}');
  assert.deepEqual(await order.json(), { taken: { item: 'tea' } }, 'the app still parses the bodies of its own routes');

  for (const path of ['/mcp', '/api/assistant']) await listAndCall('embed-express', origin + path);

  const startedMs = performance.now();
  const forgotten = await post('/forgotten', '{"jsonrpc":"2.0","id":1,"method":"ping"}');
  const { error } = (await forgotten.json()) as { error: { message: string } };
  assert.equal(forgotten.status, 500);
  assert.match(error.message, /handle\(request, response, \{ body: request\.body \}\)/);
  assert.ok(performance.now() - startedMs < 2_000, 'the error comes immediately');
  console.log('embed-express: a body that was not passed on gives an error immediately');
} finally {
  server.close();
  server.closeAllConnections();
  await Promise.all([gateway.stop(), assistant.stop()]);
}
