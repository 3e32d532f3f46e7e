import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, DEFAULT_LIMITS } from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway, text } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { legacySession } from '../../support/gateway-streams.ts';
import { modernRequest, rawRequest } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { httpBackend, httpServer, legacyAnswers, modernAnswers } from '../backend/support.ts';

/** What a client sends that is none of a backend's business. */
const PRIVATE_HEADERS = {
  authorization: 'Bearer client-secret',
  'proxy-authorization': 'Basic client-secret',
  cookie: 'sid=client-secret',
  forwarded: 'for=client-secret',
  'x-forwarded-for': 'client-secret',
  'x-forwarded-host': 'client-secret',
  'x-custom': 'client-secret',
  'last-event-id': 'client-secret',
  'proxy-connection': 'keep-alive',
  te: 'trailers',
  connection: 'keep-alive, x-hop',
  'x-hop': 'client-secret',
  origin: 'http://localhost:9',
  referer: 'http://client-secret/',
  'user-agent': 'client-secret',
};

/** Puts a real socket in front of a gateway in memory. */
async function listening(kit: TestGateway) {
  const server = createServer((request, response) => kit.gateway.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a backend over HTTP', () => {
  proves(
    'choice.fidelity.headers-never-copied',
    'gets no header of the client, only what the gateway says',
    async () => {
      const legacy = await httpServer(legacyAnswers({ tools: [{ name: 'old', inputSchema: { type: 'object' } }] }));
      const modern = await httpServer(modernAnswers({ tools: [{ name: 'new', inputSchema: { type: 'object' } }] }));
      await using kit = await testGateway({
        backends: { l: httpBackend(legacy.url), m: httpBackend(modern.url) },
        plan: { endpoint: { allowedOrigins: [PRIVATE_HEADERS.origin] } },
      });
      await using listener = await listening(kit);
      const session = (await legacySession(kit.gateway)).headers;
      const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      for (const name of ['old', 'new']) {
        const params = { name, arguments: {} };
        const asModern = modernRequest('tools/call', params);
        const asLegacy = { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers: session };
        for (const { body, headers } of [asModern, asLegacy]) {
          const all = { ...PRIVATE_HEADERS, ...both, ...headers };
          const reply = await rawRequest(listener.url, 'POST', all, JSON.stringify(body));
          expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('content')]);
        }
      }
      for (const backend of [legacy, modern]) {
        expect(backend.of('tools/call')).toHaveLength(2);
        for (const { headers } of backend.all) {
          expect(JSON.stringify(headers)).not.toContain('client-secret');
          for (const name of ['te', 'origin', 'proxy-connection', 'cookie', 'authorization', 'x-hop']) {
            expect(headers).not.toHaveProperty(name);
          }
          expect(headers.host).toBe(new URL(backend.url).host);
          expect([undefined, 's1', 's2', 's3', 's4']).toContain(headers['mcp-session-id']); // its own
        }
      }
    },
  );

  proves('ask.backend.pooled', 'that keeps no state is called over few connections, used again and again', async () => {
    let connections = 0;
    const far = createServer();
    far.on('connection', () => void connections++);
    const answers = modernAnswers();
    far.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const message = JSON.parse(Buffer.concat(chunks).toString());
        answers({ method: 'POST', path: '/mcp', headers: request.headers, message, body: '', response });
      });
    });
    await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(far.address() as AddressInfo).port}/mcp`;
    {
      await using kit = await testGateway({ backends: { far: httpBackend(url) } });
      const clients = await Promise.all(Array.from({ length: 8 }, () => kit.client()));
      const [first] = clients;
      for (let round = 0; round < 40; round++) await first?.callTool('echo');
      expect(connections).toBeLessThanOrEqual(3); // discovery may have taken one or two more
      for (let round = 0; round < 10; round++) await Promise.all(clients.map((client) => client.callTool('echo')));
      expect(connections).toBeLessThanOrEqual(3 + 2 * clients.length); // a wave may overlap the one before
    }
    far.closeAllConnections();
    await new Promise((resolve) => far.close(resolve));
  });

  proves('vmcp.backends.type-entry-remote', 'of type entry is a remote server that is reached directly', async () => {
    const remote = await httpServer(modernAnswers());
    const entry = { name: 'remote', url: remote.url, transport: 'streamable-http', type: 'entry' };
    const plugins = [
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/static', with: { backends: [entry] } },
    ];
    const gateway = await createGateway({ plugins }, { catalogue });
    try {
      expect(await gateway.perform({ name: 'echo' })).toHaveProperty('result');
      expect(remote.of('tools/call')).toHaveLength(1);
      expect(gateway.backends()).toMatchObject([{ backend: { type: 'entry' }, status: 'ready' }]);
    } finally {
      await gateway.stop();
    }
  });
});

describe('the size of a result', () => {
  proves(
    ['ask.limit.result', 'choice.http.result-limit'],
    'is limited to 100 MiB or to what limits.resultBytes says, over stdio and HTTP',
    async () => {
      expect(DEFAULT_LIMITS.resultBytes).toBe(100 * 1024 * 1024);
      const large = { content: [{ type: 'text', text: 'x'.repeat(5_000) }] };
      const http = await httpServer(
        modernAnswers({
          tools: [{ name: 'http', inputSchema: { type: 'object' } }],
          before: ({ message, response }) => {
            if (message?.method !== 'tools/call') return false;
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(
              JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { ...large, resultType: 'complete' } }),
            );
            return true;
          },
        }),
      );
      const stdio = fakeServer()
        .tool('stdio', () => large)
        .tool('small', () => text('ok'))
        .prompt('p', 'y'.repeat(5_000));
      const backends = { stdio, http: httpBackend(http.url) };
      for (const resultBytes of [2_048, 8_192]) {
        await using kit = await testGateway({ backends, plan: { limits: { resultBytes } } });
        const client = await kit.client();
        for (const name of ['stdio', 'http']) {
          const result = await client.callTool(name);
          expect(result.isError === true).toBe(resultBytes === 2_048);
          if (result.isError) expect(JSON.stringify(result.content)).toMatch(/BACKEND_TOO_LARGE/);
        }
        expect(await client.callTool('small')).toMatchObject({ content: [{ text: 'ok' }] });
        const prompt = await client.request('prompts/get', { name: 'p' });
        expect(prompt.error?.code).toBe(resultBytes === 2_048 ? -32603 : undefined);
      }
    },
  );
});

describe('both revisions', () => {
  proves('vmcp.versioning.revisions', 'are served at one endpoint, and each says so', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('t') } });
    expect((await legacySession(kit.gateway)).hello.protocolVersion).toBe('2025-11-25');
    const { result } = await (await kit.client()).request('server/discover');
    expect(result?.supportedVersions).toEqual(['2026-07-28', '2025-11-25']);
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      expect(await (await kit.client({ era })).toolNames()).toEqual(['t']);
    }
  });
});
