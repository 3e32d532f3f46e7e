// A very cheap backend: raw node:http with prepared responses, both eras at every URL; `/counts` has the requests so far.
// Arguments: PORT, TOOLS, and `echo` for two more tools: `echo` returns its text, `fail` returns a tool error.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

const [port = '0', tools = '10', echo] = process.argv.slice(2);
const names = Array.from({ length: Number(tools) }, (_, n) => `tool_${n}`);
const list = JSON.stringify(
  [...names, ...(echo === undefined ? [] : ['echo', 'fail'])].map((name, n) => ({
    name,
    description: `Tool number ${n} of this server. It echoes a text and is here to be listed.`,
    inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'what to echo' } } },
  })),
);
const SMALL = '"content":[{"type":"text","text":"The quick brown fox jumps over the lazy dog."}]';
const MEGABYTE = `"content":[{"type":"text","text":"${'x'.repeat(1_048_576)}"}]`;
const FAILED = '"content":[{"type":"text","text":"The tool failed."}],"isError":true';
const MODERN = '"resultType":"complete",';
const CACHE = ',"ttlMs":0,"cacheScope":"private"';
const CAPABILITIES = '"capabilities":{"tools":{"listChanged":true}}';

const counts = { requests: 0, initialize: 0 };

const server = createServer((request, response) => {
  if (request.url === '/counts') return void response.end(JSON.stringify(counts));
  counts.requests++;
  if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('latin1')));
});

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const id = /"id":("[^"]*"|\d+)/.exec(body)?.[1];
  if (id === undefined) return void response.writeHead(202).end();
  const method = /"method":"([^"]+)"/.exec(body)?.[1] ?? '';
  const isModern = request.headers['mcp-protocol-version'] === '2026-07-28';
  const era = isModern ? MODERN : '';
  const cache = isModern ? CACHE : '';
  if (method === 'initialize') {
    counts.initialize++;
    const version = /"protocolVersion":\s*"(\d{4}-\d\d-\d\d)"/.exec(body)?.[1] ?? '2025-11-25'; // that of the client
    const result = `{"protocolVersion":"${version}","serverInfo":{"name":"bench","version":"1"},${CAPABILITIES}}`;
    return send(response, id, result, { 'mcp-session-id': `s${++sessions}` });
  }
  if (method === 'server/discover') {
    return send(response, id, `{${MODERN}"supportedVersions":["2026-07-28"],${CAPABILITIES}${CACHE}}`);
  }
  if (method === 'tools/list') return send(response, id, `{${era}"tools":${list}${cache}}`);
  if (method === 'subscriptions/listen') return listen(response, id);
  const name = request.headers['mcp-name'] ?? /"name":\s*"([^"]+)"/.exec(body)?.[1]; // the body may name the client first
  if (name === 'echo') return send(response, id, `{${era}"content":[{"type":"text","text":"${textIn(body)}"}]}`);
  if (name === 'fail') return send(response, id, `{${era}${FAILED}}`);
  if (name === 'tool_1') return send(response, id, `{${era}${MEGABYTE}}`);
  if (name === 'tool_2') return stream(response, id, body, era);
  send(response, id, `{${era}${SMALL}}`);
}

/** The text to echo, as JSON without quotes. */
function textIn(body: string): string {
  return /"text":\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? '';
}

let sessions = 0;

/** Texts are latin1, one character for each byte of UTF-8: they are copied, never read. */
function send(response: ServerResponse, id: string, result: string, more: Record<string, string> = {}): void {
  const body = `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...more });
  response.end(body, 'latin1');
}

/** Ten progress notifications, then the result, on one event stream. */
function stream(response: ServerResponse, id: string, body: string, era: string): void {
  const token = /"progressToken":("[^"]*"|\d+)/.exec(body)?.[1];
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (let n = 1; token !== undefined && n <= 10; n++) {
    const params = `{"progressToken":${token},"progress":${n},"total":10}`;
    response.write(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n\n`);
  }
  response.end(`data: {"jsonrpc":"2.0","id":${id},"result":{${era}${SMALL}}}\n\n`);
}

function listen(response: ServerResponse, id: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const meta = `{"io.modelcontextprotocol/subscriptionId":${id}}`;
  const params = `{"notifications":{"toolsListChanged":true},"_meta":${meta}}`;
  response.write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":${params}}\n\n`);
}

server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening ${typeof address === 'object' && address !== null ? address.port : 0}`);
});
