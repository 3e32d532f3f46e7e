// A vmcp file as the configuration of a gateway inside of a server of one's own.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { gateway } from './gateway.ts';

const server = createServer((request, response) => gateway.handle(request, response));
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);

try {
  const client = new Client({ name: 'story', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url));
  const { tools } = await client.listTools();
  assert.ok(
    tools.some(({ name }) => name === 'memory_read_graph'),
    'the tools have the names that the file says',
  );
  const answer = await client.callTool({ name: 'memory_read_graph', arguments: {} });
  assert.notEqual(answer.isError, true, 'a tool is called');
  await client.close();
  console.log(`embed-vmcp-file: listed ${tools.length} tools of the file and called one`);
} finally {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
}
