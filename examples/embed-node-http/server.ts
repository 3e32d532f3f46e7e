import { createServer } from 'node:http';
import { gateway } from './gateway.ts';

const server = createServer((request, response) => {
  if (request.url === '/health') return void response.end('fine');
  gateway.handle(request, response);
});

const port = Number(process.env.PORT ?? 3000);
server.listen(port, '127.0.0.1', () => console.log(`MCP at http://127.0.0.1:${port}/mcp`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close(); // no new connections
    await gateway.stop(); // lets calls finish
    server.closeAllConnections();
  });
}
