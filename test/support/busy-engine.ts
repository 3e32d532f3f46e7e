// Simulates a host under load: keeps new objects for a while, as lists or many open requests do.
// Argument: `settled` when the gateway has settled. Prints the largest size of the young generation in bytes.
import { getHeapSpaceStatistics } from 'node:v8';
import { prepareEngine, widenYoungGeneration } from '../../hosts/shared/engine.ts';

const TURNS = 60;
const PAUSE_MS = 20; // lets timers run, as between requests
const KEPT_PER_TURN = 50_000;

prepareEngine();
if (process.argv[2] === 'settled') widenYoungGeneration();
let most = 0;
for (let turn = 0; turn < TURNS; turn++) {
  const kept: object[] = [];
  for (let n = 0; n < KEPT_PER_TURN; n++) kept.push({ turn, n, text: String(n) });
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  most = Math.max(most, young?.space_size ?? 0);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
process.stdout.write(`${most}\n`);
