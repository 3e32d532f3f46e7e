// An outgoing-auth strategy of a plugin signs the requests to one backend.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';

/** A backend that checks the signature of every request. It offers nothing: the gateway's own requests are enough. */
const signed: boolean[] = [];
const backend = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const { 'x-time': time = '', 'x-signature': signature } = request.headers;
  signed.push(createHmac('sha256', 'the-key').update(`${time}\n`).update(body).digest('hex') === signature);
  response.writeHead(404).end();
});
backend.listen(0, '127.0.0.1');
await once(backend, 'listening');
const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/mcp`;

process.env.ORDERS_KEY = 'the-key';
const gateway = await createGateway(
  {
    name: 'custom-strategy',
    plugins: [
      { use: 'secrets/environment' },
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: './signed-requests.ts' },
      {
        use: 'backend-sources/static',
        with: { backends: [{ name: 'orders', transport: 'streamable-http', url }] },
      },
    ],
    outgoingAuth: { backends: { orders: { type: 'signed_requests', options: { keyEnv: 'ORDERS_KEY' } } } },
  },
  { catalogue, baseDir: import.meta.dirname },
);
try {
  await gateway.settled();
  assert.ok(signed.length > 0 && signed.every(Boolean), 'every request was signed');
  console.log(`custom-strategy: the backend verified ${signed.length} signatures`);
} finally {
  await gateway.stop();
  backend.close();
  backend.closeAllConnections();
}
