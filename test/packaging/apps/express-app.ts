import type { AddressInfo } from 'node:net';
import express from 'express';
import { callAndEnd, gateway } from './gateway.ts';

const app = express();
app.use(express.json());
app.use('/mcp', (request, response) => gateway.handle(request, response, { body: request.body as unknown }));
const server = app.listen(0, '127.0.0.1', () => {
  void callAndEnd(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
});
