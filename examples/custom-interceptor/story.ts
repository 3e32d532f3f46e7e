// A gateway that masks secrets in both directions: in calls to a backend and in its results.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, definePlugin, type JsonObject, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { z } from 'zod';
import './mask-secrets/index.test.ts'; // runs too, and the story fails with it

/** Arguments that the hook `authorize` got; it runs after every rewrite. */
const authorized: JsonObject[] = [];
const observer = definePlugin({
  address: 'story/witness',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.authorize.tap('story/witness', (call) => {
      authorized.push(call.arguments);
      return undefined;
    });
  },
});

const plan: PlanInput = {
  name: 'custom-interceptor',
  plugins: [
    { use: 'incoming-auth/anonymous' },
    { use: 'outgoing-auth/unauthenticated' },
    { use: './mask-secrets/index.ts', with: { patterns: ['tok_[0-9a-z]{8,}'] } },
    { use: 'story/witness' },
    { use: 'backend-sources/static', with: { backends: [everythingServer()] } },
  ],
};
const gateway = await createGateway(plan, { catalogue, plugins: [observer], baseDir: import.meta.dirname });

const server = createServer((request, response) => gateway.handle(request, response));
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
const client = new Client({ name: 'story', version: '1.0.0' });

try {
  await client.connect(new StreamableHTTPClientTransport(url));

  const echoed = await client.callTool({ name: 'echo', arguments: { message: 'deploy with tok_abcdefgh12' } });
  assert.deepEqual(
    authorized.at(-1),
    { message: 'deploy with [masked]' },
    'the call is masked before it is authorized',
  );
  assert.match(textOf(echoed), /deploy with \[masked\]/, 'the backend got the masked text');

  const environment = await client.callTool({ name: 'get-env', arguments: {} });
  assert.ok(!textOf(environment).includes('tok_0123456789'), 'a secret of the backend is not in the result');
  assert.match(textOf(environment), /"API_TOKEN": "\[masked\]"/, 'the secret is replaced by the mask');

  const clean = await client.callTool({ name: 'echo', arguments: { message: 'nothing to hide' } });
  assert.match(textOf(clean), /nothing to hide/, 'other text is unchanged');
  console.log('custom-interceptor: one secret was masked in a call, one in a result');
} finally {
  await client.close();
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}

function textOf(result: { readonly content?: unknown }): string {
  return z
    .array(z.looseObject({ text: z.string() }))
    .parse(result.content)
    .map(({ text }) => text)
    .join('\n');
}

function everythingServer() {
  const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
  const env = { API_TOKEN: 'tok_0123456789' };
  return { name: 'everything', transport: 'stdio', command: { file: process.execPath, args: [program], env } };
}
