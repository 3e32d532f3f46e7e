// What the engine of a host does under work: keeps what it makes for a while, as lists or many open requests do.
// Argument: `settled` when the gateway has settled. Prints the most bytes that the young generation had.
import { getHeapSpaceStatistics } from 'node:v8';
import { prepareEngine, widenYoungGeneration } from '../../hosts/shared/engine.ts';

const TURNS = 60;
const BREATH_MS = 20; // between turns, as between requests: timers run then
const KEPT_PER_TURN = 50_000;

prepareEngine();
if (process.argv[2] === 'settled') widenYoungGeneration();
let most = 0;
for (let turn = 0; turn < TURNS; turn++) {
  const kept: object[] = [];
  for (let n = 0; n < KEPT_PER_TURN; n++) kept.push({ turn, n, text: String(n) });
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  most = Math.max(most, young?.space_size ?? 0);
  await new Promise((resolve) => setTimeout(resolve, BREATH_MS));
}
process.stdout.write(`${most}\n`);
