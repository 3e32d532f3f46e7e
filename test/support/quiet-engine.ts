// Simulates an idle host with much garbage. Prints the bytes in use before and after the collection, and the number of full
// collections after that.
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { prepareEngine, widenYoungGeneration } from '../../hosts/shared/engine.ts';

const KEPT_FOR_MS = 20;
const ROUNDS = 20;
const PER_ROUND = 50_000;
const MAX_WAIT_MS = 20_000;
const LATER_MS = 3_000; // three times the time after which a process counts as idle
const FULL = 4; // NODE_PERFORMANCE_GC_MAJOR

interface GcEntry {
  readonly detail: { readonly kind: number };
}

let full = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) full += Number((entry as unknown as GcEntry).detail.kind === FULL);
}).observe({ entryTypes: ['gc'] });

prepareEngine();
widenYoungGeneration();
const kept: object[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (let n = 0; n < PER_ROUND; n++) kept.push({ round, n, text: String(n) });
  await delay(KEPT_FOR_MS);
}
const before = inUse();
kept.length = 0;
const until = performance.now() + MAX_WAIT_MS;
while (inUse() > before / 2 && performance.now() < until) await delay(KEPT_FOR_MS);
const after = inUse();
await delay(0);
full = 0;
await delay(LATER_MS);
process.stdout.write(`${JSON.stringify({ before, after, later: full })}\n`);

function inUse(): number {
  return getHeapStatistics().used_heap_size;
}
