// A server over HTTP that listens where MCP_HOST and MCP_PORT say, with one tool that names this address.
import { createServer } from 'node:http';

const { MCP_HOST, MCP_PORT } = process.env;
const RESULTS = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'http', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'host', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: MCP_HOST }] }),
};

createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method } = body === '' ? {} : JSON.parse(body);
  if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
  const known = RESULTS[method];
  const answer = known ? { result: known() } : { error: { code: -32601, message: 'method not found' } };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}).listen(Number(MCP_PORT), MCP_HOST);
