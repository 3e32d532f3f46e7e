import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Sets V8 up for a server of many short requests. To be called before other modules are loaded (`bin/toolmgr.js`);
 * {@link widenYoungGeneration} is the other half, for when the first lists are read. Doing it twice changes nothing.
 *
 * Fails: nothing; a flag that a later V8 does not know is ignored with a line on stderr.
 */
export function prepareEngine(): void {
  for (const flag of [...FLAGS, GROWTH.none]) setFlagsFromString(flag);
}

const FLAGS = [
  // V8 watches what code makes while a gateway reads its first lists, sees that it all stays, and from then on puts
  // whatever the same code makes into the old generation. There one finished request keeps the next one alive: most of
  // each request waited for a full collection, which cost 16 µs of a call.
  '--no-allocation-site-pretenuring',
  // Parsers and sandboxes in WebAssembly have many functions of which only some are ever called.
  '--wasm-lazy-compilation',
] as const;

/** While modules load and lists are read, all that is made stays: to grow for it takes 20 MB that an idle gateway never uses. */
const GROWTH = { none: '--semi-space-growth-factor=1', double: '--semi-space-growth-factor=2' } as const;

/**
 * Lets the young generation grow with the load from now on, to 32 MB. To be called when a gateway has settled: what
 * comes then are requests, which die young.
 *
 * V8 makes it as small as 1 MB in a process that was quiet for some seconds. Were it not let grow back, every gateway
 * would end there: 400 collections a second, a quarter of a call. By itself V8 goes on to 128 MB, which gives nothing more.
 *
 * From then on garbage is collected as well when much has come together and the process is quiet.
 */
export function widenYoungGeneration(): void {
  if (steering !== undefined) return;
  const collect = collectorOfGrowth();
  steering = setInterval(() => {
    steer();
    collect();
  }, STEER_MS).unref();
  steer();
}

let steering: NodeJS.Timeout | undefined;
let growth: keyof typeof GROWTH = 'none';
const STEER_MS = 250; // under full load V8 doubles about as often
const YOUNG_BYTES = 32 * 1_048_576; // both halves

function steer(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  const wanted = (young?.space_size ?? 0) < YOUNG_BYTES ? 'double' : 'none';
  if (wanted === growth) return;
  growth = wanted;
  setFlagsFromString(GROWTH[wanted]);
}

/** What is worth a pause: less is no more than what some seconds of calls leave behind. */
const GROWTH_BYTES = 32 * 1_048_576;
const QUIET_TURNS = 4; // one second
const REST_MS = 300_000; // between two such collections: bursts of calls must not meet one pause each
const QUIET_SHARE = 0.05; // of a turn that the event loop is at work

/**
 * Makes what collects all garbage, and gives its memory back, when memory has grown and the process has become quiet.
 *
 * A large catalogue is indexed once. What that leaves in the old generation stays until V8 has a reason to collect it, and
 * a process that is quiet gives none. A busy process is left alone: V8 collects there by itself, and a pause would be felt.
 * Collected is once for each growth, not once for each quiet second, and at most once in five minutes.
 */
function collectorOfGrowth(): () => void {
  let least = bytesInUse();
  let quietTurns = 0;
  let restsUntilMs = 0;
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    quietTurns = utilization < QUIET_SHARE ? quietTurns + 1 : 0;
    if (quietTurns < QUIET_TURNS || performance.now() < restsUntilMs || bytesInUse() < least + GROWTH_BYTES) return;
    collectAll();
    restsUntilMs = performance.now() + REST_MS;
    least = bytesInUse();
    quietTurns = 0;
    last = performance.eventLoopUtilization();
  };
}

function bytesInUse(): number {
  const { used_heap_size: used, external_memory: external } = getHeapStatistics();
  return used + external;
}

/** V8's own way when memory runs out: it moves together what stays, and returns what is free. Only new contexts have the function. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
