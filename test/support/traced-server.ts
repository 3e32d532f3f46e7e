import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Headers and `_meta` of one `tools/call`. */
export interface TracedCall {
  readonly headers: IncomingHttpHeaders;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A real server of both revisions over HTTP that records its tool calls. */
export interface TracedServer extends AsyncDisposable {
  readonly url: string;
  readonly calls: TracedCall[];
}

/** Starts a server with the tools `echo` and `fail`, whose error text contains a secret. */
export async function tracedServer(): Promise<TracedServer> {
  const calls: TracedCall[] = [];
  const handler = createMcpHandler(toolServer);
  const nodeHandler = toNodeHandler(handler);
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const body = text === '' ? undefined : (JSON.parse(text) as Body);
    if (body?.method === 'tools/call') calls.push({ headers: request.headers, meta: body.params?._meta ?? {} });
    await nodeHandler(request, response, body);
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    async [Symbol.asyncDispose]() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

interface Body {
  readonly method?: string;
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> };
}

function toolServer(): McpServer {
  const server = new McpServer({ name: 'traced', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: z.looseObject({}) }, (given) => ({
    content: [{ type: 'text', text: JSON.stringify(given) }],
  }));
  server.registerTool('fail', { inputSchema: z.looseObject({}) }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'the password hunter2 is wrong' }],
  }));
  return server;
}
