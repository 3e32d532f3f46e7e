import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { gateway } from './gateway.ts';

const app = new Hono();
app.post('/orders', async (context) => context.json({ taken: await context.req.json() }));
// A Request does not have the address of its client. Limits per client and trusted proxies need it.
app.all('/mcp', (context) => gateway.fetch(context.req.raw, { address: getConnInfo(context).remote.address }));

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () =>
  console.log(`MCP at http://127.0.0.1:${port}/mcp`),
) as Server;

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close(); // no new connections
    await gateway.stop(); // lets calls finish
    server.closeAllConnections();
  });
}
