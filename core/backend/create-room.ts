import type { Authorizer } from '../contract/auth-strategy.ts';
import type { Backend } from '../contract/backend.ts';
import type { JsonObject } from '../contract/json.ts';
import { explainCause, GatewayFault } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../protocol/limits.ts';
import { sameBackend } from './directory.ts';
import type { Keeper } from './keeper.ts';
import { isHeldBy, join, keep, letGo, programsOf } from './kept.ts';
import type { BackendListing, BackendRoom, BackendRoomEvents, CallerLists, Kept } from './room.ts';
import { sendCall } from './send.ts';
import type { Spawn } from './transports/process-group.ts';

export type { Spawn } from './transports/process-group.ts';

/** What the far side is made with. */
export interface BackendRoomOptions {
  readonly limits: Limits;
  /** Time for one answer, by workload name where set. */
  readonly timeouts: { readonly defaultMs: number; readonly perWorkloadMs: Readonly<Record<string, number>> };
  /** The authorizer of a backend; asked once per description. */
  authorizer(workload: string): Authorizer;
  /** The gateway's own name and version, as backends get them. */
  readonly clientInfo: JsonObject;
  now(): number;
  readonly log: Log;
  readonly events: BackendRoomEvents;
  /** Starts programs; Node's own unless set. */
  readonly spawn?: Spawn;
  /** What keeps an equal backend for the gateway before this one, with its open sessions and programs. */
  lent?(backend: Backend): Kept | undefined;
}

/** Makes the far side. It is empty and idle until `replace`. */
export function createBackendRoom(options: BackendRoomOptions): BackendRoom {
  const { limits, timeouts, events } = options;
  const keepers = new Map<string, Keeper>();
  const leaving = new Set<Promise<void>>();
  /** First looks at backends, each for a bounded time. */
  const arriving = new Set<Promise<void>>();
  let settling: Promise<void> | undefined;
  let isStopped = false;

  const begin = (backend: Backend, inherited: ReadonlyMap<string, BackendListing> | undefined): Promise<void> => {
    const { clientInfo, log, now, spawn } = options;
    const more = inherited === undefined ? {} : { inherited };
    const keeper = keep({ backend, clientInfo, limits, log, spawn, now, ...more }, options);
    keepers.set(backend.name, keeper);
    if (inherited === undefined) events.changed({ name: backend.name, change: 'added', state: keeper.state });
    return keeper.start();
  };

  /** Takes over what the gateway before this one keeps; it goes on where it is. */
  const adopt = (kept: Kept): void => {
    const { name } = kept.backend;
    const keeper = join(kept, options);
    if (keeper === undefined) return;
    keepers.set(name, keeper);
    events.changed({ name, change: 'added', state: keeper.state });
    for (const capabilityClass of keeper.listings.keys()) events.listed(name, capabilityClass);
  };

  const arrives = (look: Promise<void>): void => {
    const arrival = within(look, limits.discoveryMs).finally(() => arriving.delete(arrival));
    arriving.add(arrival);
  };

  /** Backends that are added meanwhile count too, as long as the time of this wait lasts. */
  const allArrived = async (): Promise<void> => {
    while (arriving.size > 0) await Promise.all(arriving);
  };
  const untilSettled = async (): Promise<void> => {
    await within(allArrived(), limits.discoveryMs);
    settling = undefined;
  };

  /** Work that a stop waits for and nobody else does. */
  const track = (work: Promise<void>): void => {
    const done = work
      .catch((cause: unknown) => options.log.error('backend not closed cleanly', { cause: explainCause(cause) }))
      .finally(() => leaving.delete(done));
    leaving.add(done);
  };

  const remove = (keeper: Keeper): void => {
    const { name } = keeper.backend;
    keepers.delete(name);
    track(letGo(keeper, options));
    events.changed({ name, change: 'removed', state: undefined });
    for (const capabilityClass of keeper.listings.keys()) events.listed(name, capabilityClass);
  };

  const sorted = () => [...keepers.values()].sort((one, other) => (one.backend.name < other.backend.name ? -1 : 1));

  const keeperOf = (workload: string): Keeper => {
    const keeper = keepers.get(workload);
    if (keeper !== undefined) return keeper;
    throw unknownBackend(workload);
  };

  return {
    replace(backends) {
      if (isStopped) return;
      const wanted = new Map(backends.map((backend) => [backend.name, backend]));
      for (const keeper of [...keepers.values()]) if (!wanted.has(keeper.backend.name)) remove(keeper);
      for (const backend of wanted.values()) {
        const known = keepers.get(backend.name);
        if (known !== undefined && sameBackend(known.backend, backend)) continue;
        if (known !== undefined) track(letGo(known, options));
        const lent = known === undefined ? options.lent?.(backend) : undefined;
        if (lent !== undefined) adopt(lent);
        else arrives(begin(backend, known?.listings));
      }
    },
    settling() {
      if (settling === undefined && arriving.size > 0) settling = untilSettled();
      return settling;
    },
    states: () => sorted().map((keeper) => keeper.state),
    eraOf: (workload) => keepers.get(workload)?.era,
    listings(capabilityClass) {
      const listings = new Map<string, BackendListing>();
      for (const keeper of sorted()) {
        const listing = keeper.listing(capabilityClass);
        if (listing !== undefined) listings.set(keeper.backend.name, listing);
      }
      return listings;
    },
    hasLists(listClass) {
      for (const keeper of keepers.values()) if (keeper.listings.has(listClass)) return true;
      return false;
    },
    callerLists(owner) {
      let worst: CallerLists = 'known';
      for (const keeper of keepers.values()) {
        const lists = keeper.callerLists(owner);
        if (lists === 'missing') return lists;
        if (lists === 'old') worst = lists;
      }
      return worst;
    },
    async welcome(owner) {
      const welcomes = [...keepers.values()].map((keeper) => keeper.welcome(owner));
      await within(Promise.all(welcomes), limits.discoveryMs);
    },
    send(call) {
      const { workload } = call.target;
      const keeper = keepers.get(workload);
      if (keeper === undefined) return Promise.reject(unknownBackend(workload));
      return sendCall(
        call,
        keeper,
        timeouts.perWorkloadMs[workload] ?? keeper.backend.timeoutMs ?? timeouts.defaultMs,
        limits,
      );
    },
    async probe(workload, timeoutMs, signal) {
      await keeperOf(workload).probe(timeoutMs, signal);
    },
    judge(workload, health) {
      const keeper = keepers.get(workload);
      if (keeper !== undefined && isHeldBy(keeper, options)) keeper.judge(health);
    },
    lend: (name) => (isStopped ? undefined : keepers.get(name)),
    async watch(workload, uri, owner) {
      await keeperOf(workload).watch(uri, owner);
    },
    async unwatch(workload, uri, owner) {
      await keepers.get(workload)?.unwatch(uri, owner);
    },
    setLogLevel(owner, level) {
      for (const keeper of keepers.values()) keeper.setLogLevel(owner, level);
    },
    rootsChanged(owner) {
      for (const keeper of keepers.values()) keeper.rootsChanged(owner);
    },
    release(ownerKey) {
      for (const keeper of keepers.values()) track(keeper.release(ownerKey));
    },
    counts() {
      let links = 0;
      let callsInFlight = 0;
      let processes = 0;
      for (const keeper of keepers.values()) {
        links += keeper.countLinks();
        processes += programsOf(keeper);
        callsInFlight += keeper.gate.inside;
      }
      return { links, processes, callsInFlight };
    },
    async stop() {
      isStopped = true;
      for (const keeper of keepers.values()) track(letGo(keeper, options));
      await Promise.allSettled([...leaving]);
      keepers.clear();
    },
  };
}

function unknownBackend(workload: string): GatewayFault {
  return new GatewayFault('BACKEND_UNKNOWN', `backend "${workload}" is not configured any more`);
}

/** Resolves with the work or after the time, whichever is first; the work goes on. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
