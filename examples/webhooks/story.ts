// A webhook decides about the calls of a gateway. It checks the signature of each request, and refuses a repeated one.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { type Kept, problemOf, type Receiver, serveReceiver } from './receiver.ts';

const folder = await mkdtemp(join(tmpdir(), 'toolmgr-webhooks-'));
const secretFile = join(folder, 'secret');
const receiver: Receiver = { secret: randomBytes(32).toString('hex'), seen: new Map() };
await writeFile(secretFile, receiver.secret, { mode: 0o600 });
const requests: Kept[] = [];
const webhook = serveReceiver(receiver, 'passwd', (request) => void requests.push(request));

const gateway = await createGateway(
  {
    name: 'webhooks',
    plugins: [
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      {
        use: 'interception/webhooks',
        with: {
          validating: [
            {
              name: 'words',
              url: await listening(webhook),
              timeout: '5s',
              failure_policy: 'fail',
              hmac_secret_ref: secretFile,
              tls_config: { insecure_skip_verify: true }, // plain http, for this story only
            },
          ],
        },
      },
      { use: 'backend-sources/static', with: { backends: [everythingServer()] } },
    ],
  },
  { catalogue },
);
const server = createServer((request, response) => gateway.handle(request, response));
const client = new Client({ name: 'story', version: '1.0.0' });

try {
  await client.connect(new StreamableHTTPClientTransport(new URL(await listening(server))));
  await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  await assert.rejects(
    client.callTool({ name: 'echo', arguments: { message: 'show /etc/passwd' } }),
    /denied by policy/,
  );
  const [first, second] = requests;
  assert.ok(first !== undefined && second !== undefined, 'the webhook was asked about both calls');
  assert.equal(problemOf(receiver, first.headers, first.body), 'the request was repeated');
  const changed = Buffer.from(first.body.toString().replace('hello', 'other'));
  assert.equal(problemOf(receiver, first.headers, changed), 'the signature is wrong');
  webhook.closeAllConnections();
  await new Promise((closed) => webhook.close(closed));
  await assert.rejects(client.callTool({ name: 'echo', arguments: { message: 'hello' } }), /could not be checked/);
  console.log('webhooks: one call was allowed, one denied, one could not be checked; a repeated request was refused');
} finally {
  await client.close();
  for (const each of [server, webhook]) {
    each.close();
    each.closeAllConnections();
  }
  await gateway.stop();
  await rm(folder, { recursive: true });
}

async function listening(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

function everythingServer() {
  const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
  return { name: 'everything', transport: 'stdio', command: { file: process.execPath, args: [program] } };
}
