import express from 'express';
import { gateway } from './gateway.ts';

const app = express();
app.use('/mcp', (request, response) => gateway.handle(request, response)); // before the parser

app.use(express.json());
app.post('/orders', (request, response) => void response.json({ taken: request.body }));

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, '127.0.0.1', () => console.log(`MCP at http://127.0.0.1:${port}/mcp`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close(); // no new connections
    await gateway.stop(); // lets calls finish
    server.closeAllConnections();
  });
}
