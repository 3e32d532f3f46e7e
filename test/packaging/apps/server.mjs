// A stdio server with one tool, without any package.
import { createInterface } from 'node:readline';

const text = process.argv[2];
const RESULTS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'greeter', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'greet', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text }] },
  ping: {},
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = RESULTS[method];
  const outcome = result === undefined ? { error: { code: -32601, message: 'method not found' } } : { result };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}
