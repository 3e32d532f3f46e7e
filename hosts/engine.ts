import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

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
 */
export function widenYoungGeneration(): void {
  if (steering !== undefined) return;
  steering = setInterval(steer, STEER_MS).unref();
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
