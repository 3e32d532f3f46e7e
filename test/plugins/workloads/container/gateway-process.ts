// Serves the workloads of a plan in a process of its own, which a test can kill. Prints the URL of the endpoint.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from '../../../../core/index.ts';
import { catalogue } from '../../../../plugins/index.ts';

const { socket, workload } = JSON.parse(process.argv[2] ?? '{}');
const gateway = await createGateway(
  {
    name: 'containers',
    plugins: [
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'workloads/container', with: { socket } },
      { use: 'backend-sources/workloads', with: { workloads: [{ runtime: 'container', ...workload }] } },
    ],
  },
  { catalogue },
);
const http = createServer((request, response) => gateway.handle(request, response));
await once(http.listen(0, '127.0.0.1'), 'listening');
console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
process.once('SIGTERM', async () => {
  http.closeAllConnections();
  await gateway.stop();
  process.exit(0);
});
