import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect, onTestFinished } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;

describe('memory that a backend could keep', () => {
  proves(
    'choice.limits.memory-released',
    'a part of an event is dropped when its stream breaks off, and not when it is resumed',
    async () => {
      const broken = new Set<ServerResponse>();
      const url = await legacyServer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('id: 1\nretry: 30000\ndata:\n\ndata: ');
        response.end(Buffer.alloc(16 * MIB, 'x'), () => broken.add(response));
      });
      await using at = await testGateway({ backends: { far: { transport: 'streamable-http', url } } });
      const client = await at.client();
      const before = bytesOfBuffers();
      const leave = new AbortController();
      const call = client.request('tools/call', { name: 'break', arguments: {} }, leave.signal);
      call.catch(() => {});
      await until(() => broken.size === 1 && at.gateway.counts().bytes < MIB);
      await until(() => bytesOfBuffers() - before < 4 * MIB, 4_000).finally(() => leave.abort());
    },
  );

  proves(
    'choice.limits.memory-budget',
    'what a program has not read of its input is counted, also of calls that were cancelled',
    async () => {
      const command = { file: process.execPath, args: ['-e', BUSY] };
      await using at = await testGateway({ backends: { far: { transport: 'stdio', command } } });
      const client = await at.client();
      const leave = new AbortController();
      const calls = [1, 2].map(() =>
        client
          .request('tools/call', { name: 'busy', arguments: { x: 'y'.repeat(4 * MIB) } }, leave.signal)
          .catch(() => {}),
      );
      await until(() => at.gateway.counts().bytes > 28 * MIB, 4_000); // each three times, and what is not read
      leave.abort();
      await Promise.all(calls);
      await until(() => at.gateway.counts().callsInFlight === 0);
      expect(at.gateway.counts().bytes).toBeGreaterThan(4 * MIB);
      await until(() => at.gateway.counts().bytes === 0); // it reads again
    },
  );
});

/** Memory of buffers after a full collection. */
function bytesOfBuffers(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  return process.memoryUsage().arrayBuffers;
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };
const toolsOf = (name: string) => ({ tools: [{ name, inputSchema: { type: 'object' } }] });

/** A server whose tool is answered by `answer`. */
async function legacyServer(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/call') return answer(response);
    const results: Record<string, object> = { initialize: HELLO, 'tools/list': toolsOf('break') };
    const result = results[method];
    const error = { code: -32601, message: 'unknown' };
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A program that is busy for a second with the first call. */
const BUSY = `
let text = '';
let isBusy = false;
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  text += chunk;
  if (!isBusy && text.includes('"tools/call"')) {
    isBusy = true;
    process.stdin.pause();
    setTimeout(() => process.stdin.resume(), 1000);
  }
  for (let end = text.indexOf('\\n'); end !== -1; end = text.indexOf('\\n')) {
    const { id, method } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    if (id === undefined) continue;
    const result = { initialize: ${JSON.stringify(HELLO)}, 'tools/list': ${JSON.stringify(toolsOf('busy'))} }[method];
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) }));
  }
});
`;
