import Fastify from 'fastify';
import { callAndEnd, gateway } from './gateway.ts';

const app = Fastify();
app.all('/mcp', (request, reply) => {
  reply.hijack();
  gateway.handle(request.raw, reply.raw, { body: request.body });
});
await callAndEnd(`${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`);
