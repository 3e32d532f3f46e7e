// A gateway process. Argument: a plan as JSON. Prints `listening PORT`; answers `counts` and `memory` (after a full
// collection, when started with --expose-gc) over its IPC channel.
import { createGateway, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../../hosts/http/listen.ts';

const gateway = await createGateway(JSON.parse(process.argv[2] ?? '{}') as PlanInput, { catalogue });
await gateway.settled();
const served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
console.log(`listening ${served.port}`);

const collect = (globalThis as { gc?: () => void }).gc;
process.on('message', async (question: { readonly id: number; readonly what: 'counts' | 'memory' | 'rss' }) => {
  if (question.what === 'memory') await collectAll();
  const facts = question.what === 'counts' ? gateway.counts() : process.memoryUsage();
  process.send?.({ id: question.id, facts });
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', async () => {
  await served.close();
  await gateway.stop();
  process.exit(0);
});

/** Collects repeatedly, because finalizers and queued callbacks release memory for the next collection. */
async function collectAll(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    collect?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
