// The gateway under test, as `toolmgr vmcp serve` assembles it, with audit on, from the built packages: plain
// JavaScript, so that nothing of the measuring strips types. Arguments: ERA NAME=URL...
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { prepareEngine } from '../../hosts/dist/engine.js';
import { serveGateway } from '../../hosts/dist/http/listen.js';

prepareEngine();
const startedMs = performance.now();
const [era = 'auto', ...pairs] = process.argv.slice(2);
const backends = pairs.map((pair) => {
  const at = pair.indexOf('=');
  return { name: pair.slice(0, at), url: pair.slice(at + 1), transport: 'streamable-http', era };
});

const gateway = await createGateway(
  {
    name: 'bench',
    plugins: [
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/static', with: { backends } },
      { use: 'aggregation' },
      { use: 'audit', with: { logFile: process.env.BENCH_AUDIT_FILE ?? '/dev/null' } },
    ],
  },
  { catalogue },
);
await gateway.settled();
const served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
console.log(`listening ${served.port} ${Math.round(performance.now() - startedMs)} ${Math.round(performance.now())}`);
process.on('SIGTERM', async () => {
  await served.close();
  await gateway.stop();
  process.exit(0);
});
