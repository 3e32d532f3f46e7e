// The reference: fastify and one undici Pool, bodies as Buffers, without parsing. Arguments: BACKEND_URL.

import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const requireFromHosts = createRequire(join(import.meta.dirname, '..', '..', 'hosts', 'package.json'));
const { default: fastify } = (await import(requireFromHosts.resolve('fastify'))) as typeof import('fastify');
const { Pool } = requireFromHosts('undici') as typeof import('undici');

const url = new URL(process.argv[2] ?? '');
const pool = new Pool(url.origin, { connections: 256 });
const app = fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
const FORWARDED = [
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
] as const;

app.post('/mcp', (request, reply) => {
  const chunks: Buffer[] = [];
  let status = 0;
  let type = '';
  pool.dispatch(
    { path: url.pathname, method: 'POST', headers: forwarded(request.headers), body: request.body as Buffer },
    {
      onRequestStart() {},
      onResponseStart(_controller, statusCode, headers) {
        status = statusCode;
        type = String(headers['content-type'] ?? '');
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        reply
          .code(status)
          .header('content-type', type)
          .send(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      },
      onResponseError(_controller, error) {
        reply.code(502).send(error.message);
      },
    },
  );
  return reply;
});

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
}

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(`listening ${typeof address === 'object' && address !== null ? address.port : 0}`);
