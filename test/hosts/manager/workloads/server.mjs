// A small MCP server over stdio: one tool; it tells its arguments on stderr.
import { createInterface } from 'node:readline';

process.stderr.write(`started with ${process.argv.slice(2).join(' ')}\n`);
if (process.env.FAILS === 'yes') process.exit(3);
const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } });
  }
  if (method === 'tools/list') return answer(id, { tools: [{ name: 'say', inputSchema: { type: 'object' } }] });
  if (method === 'ping') return answer(id, {});
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })}\n`);
});
