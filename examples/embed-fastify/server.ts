import Fastify from 'fastify';
import { gateway } from './gateway.ts';

const app = Fastify({ forceCloseConnections: true });
await app.register(async (scope) => {
  // In this scope the gateway reads bodies, within its own limits.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _body, done) => done(null));
  scope.all('/mcp', (request, reply) => {
    reply.hijack(); // the gateway writes the response
    gateway.handle(request.raw, reply.raw);
  });
});
app.post('/orders', async (request) => ({ taken: request.body }));

const port = Number(process.env.PORT ?? 3000);
await app.listen({ host: '127.0.0.1', port });
console.log(`MCP at http://127.0.0.1:${port}/mcp`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await gateway.stop(); // lets calls finish
    await app.close();
  });
}
