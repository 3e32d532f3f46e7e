// A gateway that authenticates callers by API keys. The plugin is a file beside this one; the plan names it by its path.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, type PlanInput } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import apiKeys from './api-keys.ts';

await checkBesideAnonymous();

const plan: PlanInput = {
  name: 'custom-auth',
  plugins: [
    { use: './api-keys.ts', with: { keys: { ada: sha256('key-of-ada'), bob: sha256('key-of-bob') } } },
    { use: 'outgoing-auth/unauthenticated' },
    {
      use: 'backend-sources/static',
      with: { backends: [{ name: 'memory', transport: 'stdio', command: memoryServer() }] },
    },
  ],
};
const gateway = await createGateway(plan, { catalogue, baseDir: import.meta.dirname });

const server = createServer((request, response) => gateway.handle(request, response));
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);

const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

try {
  assert.equal(await statusOf({}), 401, 'a request without a key');
  assert.equal(await statusOf({ 'x-api-key': 'key-of-eve' }), 401, 'a request with an unknown key');
  assert.equal(await statusOf({ 'x-api-key': 'key-of-ada' }), 200, 'a request with a known key');

  const ada = await connect('key-of-ada');
  const { tools } = await ada.client.listTools();
  assert.ok(
    tools.some(({ name }) => name === 'create_entities'),
    'ada sees the tools of the memory server',
  );
  const answer = await ada.client.callTool({ name: 'read_graph', arguments: {} });
  assert.notEqual(answer.isError, true, 'ada calls one of them');

  const { sessionId } = ada.transport;
  assert.ok(sessionId !== undefined, 'ada has a session');
  const stolen = await statusOf({ 'x-api-key': 'key-of-bob', 'mcp-session-id': sessionId }, PING);
  assert.ok(stolen === 403 || stolen === 404, `bob cannot use the session of ada, got ${stolen}`);

  await ada.client.close();
  console.log(
    `custom-auth: ada called one of ${tools.length} tools; no key, a wrong key and a stolen session were refused`,
  );
} finally {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}

/** A vmcp file must have `incomingAuth`; also with `type: anonymous` there, a key is required. */
async function checkBesideAnonymous(): Promise<void> {
  const keys = { ada: sha256('key-of-ada') };
  await using kit = await testGateway({
    catalogue,
    plugins: [apiKeys],
    plan: { plugins: [{ use: 'incoming-auth/anonymous' }, { use: apiKeys.address, with: { keys } }] },
    backends: { tools: fakeServer().tool('any', 'done') },
  });
  const anonymous = await kit.client();
  assert.equal((await anonymous.request('tools/list')).status, 401, 'without a key, beside the anonymous plugin');
  const ada = await kit.client({ headers: { 'x-api-key': 'key-of-ada' } });
  assert.deepEqual(await ada.toolNames(), ['any'], 'with a key, beside the anonymous plugin');
}

async function connect(key: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'story', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'x-api-key': key } } });
  await client.connect(transport);
  return { client, transport };
}

async function statusOf(headers: Record<string, string>, message: object = initialize()): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(message),
  });
  await response.body?.cancel();
  return response.status;
}

function initialize(): object {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'story', version: '1.0.0' } };
  return { jsonrpc: '2.0', id: 1, method: 'initialize', params };
}

function sha256(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function memoryServer() {
  const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'));
  return { file: process.execPath, args: [program] };
}
