import { definePlugin, type JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'own', version: '1' } };

/** A client that reads everything at once, and listens to the records of the gateway. */
async function connected() {
  const records: JsonObject[] = [];
  const listener = definePlugin({
    address: 'test/listener',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.requestSettled.tap('test/listener', ({ inbound, message, status, session }) => {
        const { method, path, transport = 'http', headers } = inbound;
        const asked = message?.method ?? null;
        records.push({ method, path, transport, headers: Object.keys(headers), asked, status, hasSession: !!session });
      });
    },
  });
  const far = fakeServer().tool('steps', ({ progress }) => {
    for (let n = 1; n <= 3; n++) progress(n);
    return { content: [] };
  });
  const kit = await testGateway({ plugins: [listener], backends: { far } });
  const written: { readonly id?: unknown; readonly method?: string }[] = [];
  const draining = new Set<() => void>();
  const connection = kit.gateway.connect({
    write: (message) => written.push(JSON.parse(Buffer.concat(message).toString())) > 0,
    onDrain(each) {
      draining.add(each);
      return () => draining.delete(each);
    },
    pendingBytes: 0,
  });
  const send = (message: object) => connection.accept(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  return { kit, connection, records, written, draining, send, [Symbol.asyncDispose]: () => kit.gateway.stop() };
}

it('a client with a connection gets messages, and only its messages have records', async () => {
  await using client = await connected();
  const { connection, records, written, draining, send } = client;
  await send({ id: 0, method: 'initialize', params: HELLO });
  await send({ method: 'notifications/initialized' });
  const listening = draining.size;
  await send({ id: 1, method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 'p' } } });
  await connection.idle();
  expect(written.map(({ id, method }) => id ?? method)).toEqual([0, ...Array(3).fill('notifications/progress'), 1]);
  expect(draining.size).toBe(listening);
  expect(client.kit.gateway.counts().sessions).toBe(1);
  await connection.end();
  expect(client.kit.gateway.counts().sessions).toBe(0);
  const about = { method: 'POST', path: '/mcp', transport: 'stdio', headers: [], hasSession: true };
  await until(() => records.length === 3);
  expect(records).toEqual([
    { ...about, asked: 'initialize', status: 200 },
    { ...about, asked: 'notifications/initialized', status: 202 },
    { ...about, asked: 'tools/call', status: 200 },
  ]);
});

it('a client that leaves during its initialize leaves no session', async () => {
  await using client = await connected();
  const initialized = client.send({ id: 0, method: 'initialize', params: HELLO });
  await Promise.all([client.connection.end(), initialized]);
  expect(client.kit.gateway.counts().sessions).toBe(0);
});

it('a gateway that stops answers a connected client with the id of its request', async () => {
  await using client = await connected();
  const stopped = client.kit.gateway.stop();
  await client.send({ id: 'late', method: 'tools/list' });
  await stopped;
  expect(client.written).toMatchObject([{ id: 'late', error: { code: -32603 } }]);
});

it('a request that fails inside is answered with its id', async () => {
  await using gateway = await openEndpoint();
  gateway.service.describeServer = () => {
    throw new Error('a plugin failed');
  };
  const written: unknown[] = [];
  const write = (message: readonly Buffer[]) => written.push(JSON.parse(Buffer.concat(message).toString())) > 0;
  const connection = gateway.endpoint.connect({ write, onDrain: () => () => {}, pendingBytes: 0 });
  const hello = { jsonrpc: '2.0', id: 'first', method: 'initialize', params: HELLO };
  await connection.accept(Buffer.from(JSON.stringify(hello)));
  expect(written).toEqual([{ jsonrpc: '2.0', id: 'first', error: { code: -32603, message: 'internal error' } }]);
});

it('a fault of the parser is answered with an error, and the connection serves the next message', async () => {
  await using client = await connected();
  const noBytes: unknown = 'a text'; // the parser does not expect it
  await client.connection.accept(noBytes as Buffer);
  await client.send({ id: 'next', method: 'ping' });
  expect(client.written).toMatchObject([
    { id: null, error: { code: -32603 } },
    { id: 'next', result: {} },
  ]);
});
