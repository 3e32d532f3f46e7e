import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Sets V8 up for a server of many short requests. Call it before other modules are loaded (`bin/toolmgr.js`), and
 * {@link widenYoungGeneration} once the first lists are read. Idempotent.
 *
 * Never throws: V8 ignores a flag that it does not know, with a line on stderr.
 */
export function prepareEngine(): void {
  for (const flag of [...FLAGS, GROWTH.none]) setFlagsFromString(flag);
}

const FLAGS = [
  // While a gateway reads its first lists, V8 sees that all objects survive, and later allocates objects of the same code
  // in the old generation. There a finished request keeps the next one alive until a full collection, which cost 16 µs
  // per call.
  '--no-allocation-site-pretenuring',
  // Parsers and sandboxes in WebAssembly have many functions that are never called.
  '--wasm-lazy-compilation',
] as const;

/** Objects made while modules load and lists are read survive anyway; growing for them costs 20 MB that stay unused. */
const GROWTH = { none: '--semi-space-growth-factor=1', double: '--semi-space-growth-factor=2' } as const;

/**
 * Allows the young generation to grow with the load, to 32 MB. Call it when a gateway has settled: from then on most
 * objects belong to requests and are short-lived.
 *
 * V8 shrinks the young generation to 1 MB in a process that is idle for some seconds. Without growth it stays there, and
 * 400 collections a second cost a quarter of a call. V8's own limit is 128 MB, which is not faster than 32 MB.
 *
 * Also starts the full collection of a gateway that is idle and has grown.
 */
export function widenYoungGeneration(): void {
  if (steeringTimer !== undefined) return;
  const collect = createIdleCollector();
  steeringTimer = setInterval(() => {
    setGrowth();
    collect();
  }, CHECK_MS).unref();
  setGrowth();
}

let steeringTimer: NodeJS.Timeout | undefined;
let growth: keyof typeof GROWTH = 'none';
const CHECK_MS = 250; // under full load V8 doubles about as often
const YOUNG_BYTES = 32 * 1_048_576; // both halves

function setGrowth(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  const wanted = (young?.space_size ?? 0) < YOUNG_BYTES ? 'double' : 'none';
  if (wanted === growth) return;
  growth = wanted;
  setFlagsFromString(GROWTH[wanted]);
}

/** Growth that is worth a full collection; some seconds of calls leave less than this. */
const GROWTH_BYTES = 32 * 1_048_576;
const IDLE_CHECKS = 4; // one second
const MIN_INTERVAL_MS = 300_000; // between two full collections, so that bursts of calls do not each cause one
const IDLE_UTILIZATION = 0.05; // share of time in which the event loop of an idle process works

/**
 * Creates a function that runs a full collection and returns the memory, when memory has grown and the process is idle.
 *
 * Indexing a large catalogue leaves garbage in the old generation, and V8 does not collect it in an idle process. A busy
 * process is skipped: V8 collects there by itself, and a pause would delay calls. Runs once per growth and at most once in
 * five minutes.
 */
function createIdleCollector(): () => void {
  let lowestBytes = bytesInUse();
  let idleChecks = 0;
  let nextAllowedMs = 0;
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    idleChecks = utilization < IDLE_UTILIZATION ? idleChecks + 1 : 0;
    if (idleChecks < IDLE_CHECKS || performance.now() < nextAllowedMs || bytesInUse() < lowestBytes + GROWTH_BYTES)
      return;
    collectAll();
    nextAllowedMs = performance.now() + MIN_INTERVAL_MS;
    lowestBytes = bytesInUse();
    idleChecks = 0;
    last = performance.eventLoopUtilization();
  };
}

function bytesInUse(): number {
  const { used_heap_size: used, external_memory: external } = getHeapStatistics();
  return used + external;
}

/**
 * Returns the memory that loading the modules of a process has left, some seconds later. For a process that is then idle for long: V8
 * collects nothing there.
 */
export function releaseStartMemory(): void {
  setTimeout(collectAll, STARTED_MS).unref();
}

const STARTED_MS = 4_000;

/** V8's last-resort collection: compacts the heap and returns free memory. Only new contexts have the function `gc`. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
