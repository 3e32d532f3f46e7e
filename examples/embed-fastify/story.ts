// A gateway inside an existing Fastify app. The app keeps its hooks and routes; one prefix is the gateway's.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway } from '@toolmgr/core';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { embedded } from '../embed-node-http/embedded.ts';
import { listAndCall } from '../embed-node-http/list-and-call.ts';

/** Mounts `/mcp` with Node's request and response: no copies, and streams and disconnects work directly. */
async function mountNode(app: FastifyInstance, gateway: Gateway): Promise<void> {
  await app.register(async (scope) => {
    leaveBodiesAlone(scope);
    scope.all('/mcp', (request, reply) => {
      reply.hijack(); // the gateway writes the response
      gateway.handle(request.raw, reply.raw);
    });
  });
}

/** Disables body parsing in this scope, because the gateway reads bodies itself, within its own limits. */
function leaveBodiesAlone(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _body, done) => done(null));
}

/** Mounts `/assistant` with fetch objects, for apps whose hooks need the response. Slower than `handle`. */
async function mountFetch(app: FastifyInstance, gateway: Gateway): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.all('/assistant', async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      return reply.send(await gateway.fetch(webRequest(request, gone.signal)));
    });
  });
}

function webRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const { method, body } = request;
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return new Request(`http://${request.host}/mcp`, {
    method,
    headers,
    signal,
    ...(Buffer.isBuffer(body) ? { body: new Uint8Array(body) } : {}),
  });
}

const gateway = await createGateway({ name: 'embedded', plugins: [{ use: 'embed/own' }] }, { plugins: [embedded] });
const app = Fastify({ forceCloseConnections: true });
let requests = 0;
app.addHook('onRequest', async () => {
  requests += 1;
});
app.post('/orders', async (request) => ({ taken: request.body }));
await mountNode(app, gateway);
await mountFetch(app, gateway);
await app.listen({ host: '127.0.0.1', port: 0 });
const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

try {
  const order = await fetch(`${origin}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"item":"tea"}',
  });
  assert.deepEqual(await order.json(), { taken: { item: 'tea' } }, 'the app still parses the bodies of its own routes');

  for (const path of ['/mcp', '/assistant']) await listAndCall('embed-fastify', origin + path);
  assert.ok(requests > 10, 'the hooks of the app saw every request');
} finally {
  await app.close();
  await gateway.stop();
}
