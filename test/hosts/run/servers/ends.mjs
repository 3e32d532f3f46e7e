// A server that ends by itself once a file is there: `ends.mjs FILE CODE`. Over stdio, or over HTTP when it is told a port.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [, , file, code] = process.argv;
if (file === 'at-once') process.exit(Number(code));
setInterval(() => existsSync(file) && process.exit(Number(code)), 25);

const RESULTS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'ends', version: '1' },
  },
  'tools/list': { tools: [] },
};
const answerTo = ({ id, method }) =>
  RESULTS[method] === undefined
    ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'method not found' } }
    : { jsonrpc: '2.0', id, result: RESULTS[method] };

if (process.env.PORT === undefined) {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined) process.stdout.write(`${JSON.stringify(answerTo(message))}\n`);
  });
} else {
  createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = body === '' ? {} : JSON.parse(body);
    if (message.id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerTo(message)));
  }).listen(Number(process.env.PORT), '127.0.0.1');
}
