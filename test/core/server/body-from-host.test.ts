import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';

type Handle = (gateway: TestGateway['gateway'], request: IncomingMessage, response: ServerResponse) => unknown;

const PING = JSON.stringify({
  jsonrpc: '2.0',
  id: 'ping-1',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'é', version: '1' } },
});

/** A server of an embedder that processes a request and passes it to a gateway at `/mcp`. */
async function hosted(handle: Handle, path: string, body: string | undefined = PING, plan = {}) {
  await using kit = await testGateway({ backends: { one: fakeServer() }, plan });
  const server = createServer((request, response) => void handle(kit.gateway, request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  try {
    const startedMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, text, ms: performance.now() - startedMs, logged: kit.logged.join('\n') };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Reads the body as a parser does, then hands it over in some form. */
const parsed =
  (form: (body: Buffer) => unknown): Handle =>
  async (gateway, request, response) =>
    gateway.handle(request, response, { body: form(await buffer(request)) });

describe('a request whose body the host has read', () => {
  const FORMS: Readonly<Record<string, (body: Buffer) => unknown>> = {
    bytes: (body) => body,
    'an array of bytes': (body) => new Uint8Array([32, ...body]).subarray(1),
    text: (body) => body.toString('utf8'),
    'a JSON value': (body) => JSON.parse(body.toString('utf8')),
  };
  for (const [name, form] of Object.entries(FORMS)) {
    proves('ask.embedding.body', `is answered when it is handed over as ${name}`, async () => {
      const { status, text } = await hosted(parsed(form), '/mcp');
      expect([status, text]).toEqual([200, expect.stringContaining('"id":"ping-1","result"')]);
    });
  }

  proves('ask.embedding.body', 'lives within the same bound', async () => {
    const { status } = await hosted(
      parsed((body) => body),
      '/mcp',
      PING.padEnd(1_025),
      { limits: { bodyBytes: 1_024 } },
    );
    expect(status).toBe(413);
  });

  proves('ask.embedding.body-consumed', 'is refused at once with what to do when it is not handed over', async () => {
    const forgets: Handle = async (gateway, request, response) => {
      await buffer(request);
      gateway.handle(request, response);
    };
    const { status, text, ms, logged } = await hosted(forgets, '/mcp');
    expect([status, text]).toEqual([500, expect.stringContaining('{ body: request.body }')]);
    expect(ms).toBeLessThan(5_000); // limits.bodyTimeoutMs is 30 s
    expect(logged).toContain('the host read the body before the gateway');
  });

  proves('ask.embedding.body-consumed', 'is refused so as a web-standard request too', async () => {
    await using kit = await testGateway({ backends: { one: fakeServer() } });
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: PING,
    });
    await request.text();
    const response = await kit.gateway.fetch(request);
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('read the body')]);
  });
});

describe('a request whose path the host has shortened', () => {
  const below =
    (taken: string, options: object = {}, asExpress = false): Handle =>
    (gateway, request, response) => {
      request.url = request.url?.slice(taken.length) || '/';
      if (asExpress) Object.assign(request, { baseUrl: taken });
      gateway.handle(request, response, options);
    };

  proves('ask.embedding.mount-path', 'is found by the whole path', async () => {
    const at = { endpoint: { path: '/api/mcp' } };
    expect((await hosted(below('/mcp', { mountPath: '/mcp' }), '/mcp?x=1')).status).toBe(200);
    expect((await hosted(below('/api', { mountPath: '/api/' }), '/api/mcp', PING, at)).status).toBe(200);
    expect((await hosted(below('/api/mcp', {}, true), '/api/mcp', PING, at)).status).toBe(200);
    // what is mounted elsewhere than the endpoint's path says keeps its own path
    expect((await hosted(below('/api', { mountPath: '' }, true), '/api/mcp')).status).toBe(200);
    expect((await hosted(below('/api', {}, true), '/api/mcp')).status).toBe(404);
  });

  it('is not taken for another when nothing was mounted', async () => {
    expect((await hosted(below(''), '/mcp')).status).toBe(200);
    expect((await hosted(below('/mcp'), '/mcp')).status).toBe(404);
  });
});
