// The gateway under test, assembled like `toolmgr vmcp serve`, with audit, from the built packages. JavaScript, so that no
// type stripping is measured. Arguments: ERA NAME=URL...
// Flags: --plugins SET (see plugin-sets.mjs), --issuer, --jwks and --audience of its tokens, --audit FILE,
// --http-client own|undici.
import { parseArgs } from 'node:util';
import { prepareEngine, widenYoungGeneration } from '../../hosts/dist/shared/engine.js';
import { pluginSet } from './plugin-sets.mjs';

prepareEngine(); // before other modules are loaded, like bin/toolmgr.js
const { createGateway } = await import('@toolmgr/core');
const { catalogue } = await import('@toolmgr/plugins');
const { serveGateway } = await import('../../hosts/dist/http/listen.js');
const startedMs = performance.now();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plugins: { type: 'string', default: 'audit' },
    issuer: { type: 'string' },
    jwks: { type: 'string' },
    audience: { type: 'string' },
    'http-client': { type: 'string', default: 'own' },
    audit: { type: 'string', default: process.env.BENCH_AUDIT_FILE ?? '/dev/null' },
  },
});
const [era = 'auto', ...pairs] = positionals;
const { issuer, jwks: jwksUrl, audience, audit: auditFile } = values;
const backends = pairs.map((pair) => {
  const at = pair.indexOf('=');
  return { name: pair.slice(0, at), url: pair.slice(at + 1), transport: 'streamable-http', era };
});

const gateway = await createGateway(
  {
    name: 'bench',
    httpClient: values['http-client'],
    plugins: [
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/static', with: { backends } },
      { use: 'aggregation' },
      ...pluginSet(values.plugins, { issuer, jwksUrl, audience, auditFile }),
    ],
  },
  { catalogue },
);
await gateway.settled();
widenYoungGeneration();
const served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
console.log(`listening ${served.port} ${Math.round(performance.now() - startedMs)} ${Math.round(performance.now())}`);
process.on('SIGTERM', async () => {
  await served.close();
  await gateway.stop();
  process.exit(0);
});
