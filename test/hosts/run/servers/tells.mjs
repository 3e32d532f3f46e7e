// A stdio server that tells its arguments and environment, prints what it is told, and may outlive its stdin.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const server = new Server({ name: 'tells', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'tell', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  if (params.arguments?.print !== undefined) console.error(params.arguments.print);
  const told = { argv: process.argv.slice(2), env: process.env };
  return { content: [{ type: 'text', text: JSON.stringify(told) }] };
});
await server.connect(new StdioServerTransport());
if (process.argv.includes('--linger')) setInterval(() => {}, 1000);
console.error('tells.mjs is up');
