import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** An MCP server that serves only people of one identity provider. */
export interface Backend extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a server with the tool `whoami`. Everyone may list it. A call needs an access token, and the server asks the provider whose
 * it is: 401 for tokens of another provider and for those of the gateway.
 */
export async function backendOf(issuer: string): Promise<Backend> {
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const isCall = (body as { readonly method?: string } | undefined)?.method === 'tools/call';
    const person = isCall ? await personOf(issuer, request.headers.authorization) : '';
    if (person === undefined) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    const mcp = new McpServer({ name: 'backend', version: '1.0.0' });
    mcp.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: person }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void mcp.close());
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
    await transport.handleRequest(request, response, body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Account and name behind a token; `undefined` when the provider does not know it. */
async function personOf(issuer: string, authorization = ''): Promise<string | undefined> {
  const answer = await fetch(`${issuer}/me`, { headers: { authorization } });
  if (!answer.ok) return undefined;
  const { sub, name } = (await answer.json()) as { readonly sub: string; readonly name: string };
  return `${name} (${sub})`;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}
