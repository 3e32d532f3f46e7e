import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { callAndEnd, gateway } from './gateway.ts';

const app = new Hono();
app.all('/mcp', (context) => gateway.fetch(context.req.raw, { address: getConnInfo(context).remote.address }));
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  void callAndEnd(`http://127.0.0.1:${port}/mcp`);
});
