import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const FLOOD = 3_000;
const MOST = 64;
const HELLO = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };

/** A backend whose tool `ask` floods its caller with one message before it answers, and takes no answers. */
async function floodingServer(flood: (n: number) => JsonObject) {
  const held: ServerResponse[] = [];
  const bodyOf = async (request: IncomingMessage): Promise<JsonObject> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    return JSON.parse(text || '{}') as JsonObject;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id, method } = await bodyOf(request);
    const json = (result: JsonObject): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (method === 'initialize') return json(HELLO);
    if (method === 'tools/list') return json({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] });
    if (method === undefined) return void held.push(response);
    if (method === 'tools/call' && held.length > 0) return json({ content: [] });
    if (method !== 'tools/call') return void response.writeHead(id === undefined ? 202 : 404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = Array.from(
      { length: FLOOD },
      (_, n) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...flood(n) })}\n\n`,
    );
    response.write(events.join(''));
    await until(() => held.length >= MOST);
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
  };
  const server = await loopbackServer((request, response) => void answer(request, response));
  return { server, held };
}

describe('a backend that floods its callers with requests and takes no answers', () => {
  proves(
    'choice.backend.question-floods',
    'is answered 64 at a time, so that connections are left for others',
    async () => {
      const { server, held } = await floodingServer((n) => ({ id: `p${n}`, method: 'ping' }));
      await using _ = server;
      await using kit = await testGateway({
        backends: { far: { transport: 'streamable-http', url: server.url, era: 'legacy' } },
      });
      const client = await kit.client({ era: '2025-11-25' });
      expect(await client.callTool('ask')).toMatchObject({ content: [] });
      expect(held.length).toBeGreaterThan(0);
      expect(held.length).toBeLessThanOrEqual(64);
    },
  );

  proves('choice.backend.question-floods', 'forwards only one of several requests with the same id', async () => {
    const { server, held } = await floodingServer(() => ({
      id: 'q',
      method: 'elicitation/create',
      params: { message: 'x', requestedSchema: { type: 'object', properties: {} } },
    }));
    await using _ = server;
    await using kit = await testGateway({
      backends: { far: { transport: 'streamable-http', url: server.url, era: 'legacy' } },
    });
    let asked = 0;
    const client = await kit.client({
      era: '2025-11-25',
      capabilities: { elicitation: {} },
      answer: () => {
        asked++;
        return { action: 'decline' };
      },
    });
    await client.callTool('ask');
    expect(asked).toBe(1);
    expect(held.length).toBeLessThanOrEqual(MOST + 1);
  });
});
