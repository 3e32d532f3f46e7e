import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { HTTP_CLIENTS } from '../../../core/http1/choose-client.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';

const HELLO = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };
const TOOLS = { tools: [{ name: 't', inputSchema: { type: 'object' } }] };

describe('an HTTP backend', () => {
  for (const httpClient of HTTP_CLIENTS) {
    proves('choice.backend.http-client', `is called by the client that the plan names: ${httpClient}`, async () => {
      const sessions: unknown[] = [];
      await using server = await loopbackServer((request, response) => void answer(request, response, sessions));
      let byUndici = 0;
      const count = (): void => void byUndici++;
      subscribe('undici:request:create', count);
      try {
        const backend = { transport: 'streamable-http', url: server.url, era: 'legacy' } as const;
        await using kit = await testGateway({ plan: { httpClient }, backends: { far: backend } });
        const result = await (await kit.client()).callTool('t');
        expect(JSON.stringify(result)).toContain('from a stream');
        expect(sessions.length).toBeGreaterThan(1);
        expect(new Set(sessions)).toEqual(new Set(['s1']));
        expect(byUndici > 0).toBe(httpClient === 'undici');
      } finally {
        unsubscribe('undici:request:create', count);
      }
    });
  }
});

/** A legacy server with a session; it answers calls by a stream. */
async function answer(request: IncomingMessage, response: ServerResponse, sessions: unknown[]): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { id, method } = JSON.parse(text || '{}') as JsonObject;
  const message = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
  const json = { 'content-type': 'application/json' };
  if (method === 'initialize') {
    response.writeHead(200, { ...json, 'Mcp-Session-Id': 's1' }).end(message(HELLO));
    return;
  }
  sessions.push(request.headers['mcp-session-id']);
  if (request.method !== 'POST') response.writeHead(405).end();
  else if (method === 'tools/list') response.writeHead(200, json).end(message(TOOLS));
  else if (method === 'tools/call') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${message({ content: [{ type: 'text', text: 'from a stream' }] })}\n\n`);
  } else response.writeHead(202).end();
}
