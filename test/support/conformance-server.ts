import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { createEventStore } from '../conformance/fixture/event-store.ts';
import { lastingServer, passingServer } from '../conformance/fixture/instance.ts';
import { createWorld, type World } from '../conformance/fixture/world.ts';

/** A running fixture server. */
export interface ConformanceServer extends AsyncDisposable {
  readonly url: string;
}

const RETRY_MS = 100; // after which a client reconnects to a closed stream

/**
 * Serves what the server scenarios of the public conformance suite need, in both revisions at one URL: 2026-07-28
 * stateless, 2025-11-25 in sessions with resumable streams.
 */
export async function startConformanceServer(port = 0): Promise<ConformanceServer> {
  const world = createWorld();
  const modern = createMcpHandler(() => passingServer(world), { legacy: 'reject' });
  const modernHandler = toNodeHandler(modern);
  const removeListener = world.follow((list) =>
    list === 'tools' ? modern.notify.toolsChanged() : modern.notify.promptsChanged(),
  );
  const sessions = createSessions(world);
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    const text = await textOf(request);
    const body = text === '' ? undefined : parsed(text);
    if (body !== undefined && !(await isLegacyRequest(await toWebRequest(request, body)))) {
      return modernHandler(request, response, body);
    }
    return sessions.handle(request, response, body);
  };
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(500).end());
  });
  await once(http.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      removeListener();
      await modern.close();
      await sessions.close();
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

function createSessions(world: World) {
  const open = new Map<string, NodeStreamableHTTPServerTransport>();
  const begin = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = lastingServer(world, 'legacy');
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => void open.set(id, transport),
    });
    await server.connect(transport);
    const closed = server.server.onclose;
    server.server.onclose = () => {
      closed?.();
      open.delete(transport.sessionId ?? '');
    };
    return transport;
  };
  return {
    async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? open.get(id) : undefined;
      if (id !== undefined && known === undefined) return refuse(response, 404, 'Session not found');
      const transport = known ?? (await begin());
      await transport.handleRequest(request, response, body);
    },
    async close(): Promise<void> {
      await Promise.all([...open.values()].map((transport) => transport.close()));
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // the handlers below answer invalid messages
  }
}
