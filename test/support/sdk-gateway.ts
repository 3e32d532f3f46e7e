import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Era } from '@toolmgr/core';
import { z } from 'zod';

/** A gateway built only from SDK classes, with one HTTP backend: the reference of differential tests. */
export interface SdkGateway extends AsyncDisposable {
  readonly url: string;
}

const INFO = { name: 'sdk-gateway', version: '1' };
const ANYTHING = z.looseObject({});

/** Serves the backend at `backendUrl` in one era on both sides. */
export async function sdkGateway(backendUrl: string, era: Era): Promise<SdkGateway> {
  const first = await clientOf(backendUrl, era, {});
  const capabilities = first.getServerCapabilities() ?? {};
  const handler = era === '2026-07-28' ? stateless(first, capabilities) : sessions(first, capabilities, backendUrl);
  const http = createServer((request, response) => {
    handler.handle(request, response).catch(() => response.destroy());
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      await handler.close();
      await first.close();
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

type Capabilities = NonNullable<ReturnType<Client['getServerCapabilities']>>;
type ClientCapabilities = NonNullable<ReturnType<Server['getClientCapabilities']>>;

interface ServerDescription {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

async function clientOf(url: string, era: Era, capabilities: ClientCapabilities, server?: Server): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const);
  const client = new Client(INFO, {
    capabilities,
    versionNegotiation: { mode },
    inputRequired: { autoFulfill: false },
  });
  // requests of the backend go to the client of this connection
  client.fallbackRequestHandler = async (request) => {
    if (server === undefined) throw new Error('no client is connected');
    return server.request({ method: request.method, params: request.params ?? {} }, ANYTHING);
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Forwards every request unchanged and returns progress with the client's token. */
async function relay(client: Client, { method, params = {} }: JSONRPCRequest, ctx: ServerContext) {
  const { progressToken, ...meta } = ctx.mcpReq._meta ?? {};
  const { envelope = {}, inputResponses } = ctx.mcpReq;
  const requestState = ctx.mcpReq.requestState();
  // the SDK removes these from the params of a received request
  const round = {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
  const result = await client.request(
    { method, params: { ...params, ...round, _meta: { ...meta, ...envelope } } },
    ANYTHING,
    {
      signal: ctx.mcpReq.signal,
      allowInputRequired: true,
      ...(progressToken === undefined
        ? {}
        : {
            onprogress: (told) =>
              void ctx.mcpReq.notify({ method: 'notifications/progress', params: { ...told, progressToken } }),
          }),
    },
  );
  const { 'io.modelcontextprotocol/serverInfo': _own, ...kept } = (result._meta ?? {}) as Record<string, unknown>;
  return { ...result, _meta: kept };
}

function stateless(client: Client, capabilities: Capabilities): ServerDescription {
  const handler = createMcpHandler(
    () => {
      const server = new Server(INFO, { capabilities });
      server.fallbackRequestHandler = (request, ctx) => relay(client, request, ctx);
      return server;
    },
    { legacy: 'reject' },
  );
  return { handle: toNodeHandler(handler), close: () => handler.close() };
}

function sessions(first: Client, capabilities: Capabilities, backendUrl: string): ServerDescription {
  const open = new Map<string, NodeStreamableHTTPServerTransport>();
  const clients = new Set<Client>([first]);
  const begin = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = new Server(INFO, { capabilities, instructions: first.getInstructions() ?? '' });
    let far: Promise<Client> | undefined;
    const farOf = (): Promise<Client> => {
      far ??= clientOf(backendUrl, '2025-11-25', server.getClientCapabilities() ?? {}, server);
      return far;
    };
    server.oninitialized = () => void farOf().then((client) => clients.add(client));
    server.fallbackRequestHandler = async (request, ctx) => relay(await farOf(), request, ctx);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void open.set(id, transport),
    });
    await server.connect(transport);
    return transport;
  };
  return {
    async handle(request, response) {
      const id = request.headers['mcp-session-id'];
      const transport = (typeof id === 'string' ? open.get(id) : undefined) ?? (await begin());
      await transport.handleRequest(request, response);
    },
    async close() {
      await Promise.all([...open.values()].map((transport) => transport.close()));
      await Promise.all([...clients].map((client) => client.close()));
    },
  };
}
