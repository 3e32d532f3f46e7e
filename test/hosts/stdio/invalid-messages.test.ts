import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { createLog, DEFAULT_LIMITS, type Gateway } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { serveStdio } from '../../../hosts/stdio/serve-stdio.ts';

const INVALID = [
  { jsonrpc: '2.0', id: {}, method: 'ping' },
  { jsonrpc: '2.0', id: null, method: 'tools/list' },
  { jsonrpc: '2.0', id: true, method: 'initialize' },
  { jsonrpc: '2.0', id: [1], result: {} },
  { jsonrpc: '2.0', id: {}, error: { code: 1, message: 'x' } },
  { jsonrpc: '2.0', id: 1 },
  { jsonrpc: '2.0', id: 2, method: 5 },
  { jsonrpc: '2.0', id: 3, method: 'ping', params: [] },
  { jsonrpc: '1.0', id: 4, method: 'ping' },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: [] },
  { method: 'notifications/initialized' },
  [{ jsonrpc: '2.0', id: 5, method: 'ping' }],
  'ping',
];
const WITHOUT_ANSWER = [
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 6, result: {} },
  { jsonrpc: '2.0', id: 7, result: 'the id is one of a request of the gateway' },
];

it('invalid messages over stdio get the answers of HTTP, and notifications and responses get none', async () => {
  await using kit = await testGateway();
  const overHttp = await Promise.all(
    INVALID.map(async (message) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) });
      const response = await kit.gateway.fetch(request);
      expect(response.status).toBe(400);
      return response.json();
    }),
  );
  const overStdio = await answersTo(kit.gateway, [...INVALID, ...WITHOUT_ANSWER]);
  expect(overStdio).toEqual(overHttp);
  expect(overStdio.slice(0, 5)).toEqual(Array(5).fill(expect.objectContaining({ id: null })));
});

/** What is written before the connection ends, in order. */
async function answersTo(gateway: Gateway, messages: readonly unknown[]): Promise<readonly unknown[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio({
    gateway,
    limits: DEFAULT_LIMITS,
    ...{ input, output, log: createLog('silent', () => {}), signal: new AbortController().signal },
  });
  for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
  input.end();
  await served;
  output.end();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(output, 'end');
  const lines = Buffer.concat(chunks).toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}
