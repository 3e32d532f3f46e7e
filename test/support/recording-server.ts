import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** A real MCP server over HTTP that records the headers of its tool calls. */
export interface RecordingServer extends AsyncDisposable {
  readonly url: string;
  /** Headers of every received `tools/call`, in order. */
  readonly calls: IncomingHttpHeaders[];
}

/** Starts a stateless server with the tools `echo`, `fail` and `slow`, which answers after `slow` resolves. */
export async function recordingServer(slow: () => Promise<void> = threeSeconds): Promise<RecordingServer> {
  const calls: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      if ((body as { method?: string } | undefined)?.method === 'tools/call') calls.push(request.headers);
      const server = toolServer(slow);
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      response.on('close', () => void server.close());
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      await transport.handleRequest(request, response, body);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function toolServer(slow: () => Promise<void>): McpServer {
  const server = new McpServer({ name: 'recording', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Says it again', inputSchema: { message: z.string() } },
    ({ message }) => ({
      content: [{ type: 'text', text: `echo: ${message}` }],
    }),
  );
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  server.registerTool('fail', {}, () => ({ isError: true, content: [{ type: 'text', text: 'it broke' }] }));
  server.registerTool('slow', {}, async () => {
    await slow();
    return { content: [{ type: 'text', text: 'late' }] };
  });
  return server;
}

const threeSeconds = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3_000));
