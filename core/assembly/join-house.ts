import { createDirectory } from '../backend/directory.ts';
import type { BackendRoom } from '../backend/room.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import { pageOf } from '../catalog/pages.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import type { Asker, LinkOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonValue } from '../contract/json.ts';
import { explainCause } from '../errors.ts';
import type { AnswerParts } from '../flow/answer.ts';
import { createBridge, createTargetDispatch, type DispatchParts, withUrlQuestions } from '../flow/dispatch.ts';
import type { Journey } from '../flow/perform.ts';
import { findTarget } from '../flow/resolve.ts';
import { freezeRooms } from '../flow/rooms.ts';
import { createParkingLot } from '../protocol/bridge/parking.ts';
import { createStateSeal } from '../protocol/bridge/request-state.ts';
import { callerClass, listClassOf } from '../protocol/capabilities.ts';
import { createEndpoint } from '../protocol/endpoint.ts';
import type { InFlight } from '../protocol/http/in-flight.ts';
import { createPassthrough } from '../protocol/passthrough-headers.ts';
import { createSessionBook, type SessionBook } from '../session/session-book.ts';
import type { Gateway } from './gateway.ts';
import { catalogFor, createHouse } from './house.ts';
import { type JoinParts, joinFarSide } from './join-far-side.ts';
import { mountedRoutes } from './mounted-routes.ts';
import { createPerforming, type Performing } from './perform-inner.ts';
import type { BackendsBehind } from './plugin-backends.ts';
import { type Sources, watchSources } from './sources.ts';
import { type Estate, isSameDoor, listsThatDiffer, noteEstate, sharedRounds, whyNotMoved } from './succession.ts';

/** The house, closed but joined. `open` lets the backends in. */
export interface JoinedHouse {
  readonly gateway: Gateway;
  readonly performing: Performing;
  readonly backends: BackendsBehind;
  open(): Promise<void>;
  /** Takes the door of the gateway before over, with the sessions and streams of its clients. */
  takeOver(): void;
}

/** Joins the rooms of one gateway, from the far side up to the endpoint. Seals the hooks. */
export function joinHouse(parts: JoinParts): JoinedHouse {
  const { plan, hooks, slots, log, now, wishes } = parts;
  const { limits } = plan;
  const serverInfo = { name: plan.name, version: plan.version };
  const stopped = new AbortController();

  let sources: Sources | undefined;
  const expected = () => sources?.expected() ?? NOTHING_EXPECTED;
  const { room, catalogs, faces, gaps, isAdopted } = joinFarSide(parts, serverInfo, expected);
  const doormen = hooks.authenticate.tapNames();
  const why =
    parts.before && whyNotMoved(parts.before, { plan, doormen, perCaller: parts.authorizers.perCaller, wishes });
  let before = why === undefined ? parts.before : undefined;
  const lot = before?.lot ?? createParkingLot(limits, now);
  const seal = before?.seal ?? createStateSeal(plan.stateKey, limits.requestStateTtlMs, limits.requestStateBytes, now);
  const dispatching: DispatchParts = {
    room,
    lot,
    seal,
    limits,
    eraOf: (workload) => room.eraOf(workload),
  };
  const target = withUrlQuestions(dispatching, createTargetDispatch(room));
  const frozen = freezeRooms(hooks, target, now);
  const rooms = { ...frozen, dispatch: createBridge(dispatching, frozen.dispatch), starting: () => gaps.starting() };
  const shared = before?.rounds ?? sharedRounds(limits.requestStateTtlMs, now);
  const { rounds } = shared;
  if (before === undefined) shared.settle = rooms.settle;
  const viewFor = (asker: Asker, inbound: Inbound | undefined) => {
    const catalog = catalogFor(catalogs, asker);
    return wishes.directPath !== undefined && inbound?.path === wishes.directPath ? catalog.direct() : catalog;
  };
  const journey: Journey = {
    rooms,
    rounds,
    resolve: (call) => findTarget(viewFor(call.asker, call.inbound), call.method, call.name, call.members),
    report: (call, cause) =>
      log.error('a call failed', {
        call: call.id,
        name: call.name,
        workload: call.target.workload,
        cause: explainCause(cause),
      }),
    reportList: (intent, cause) => log.error('a list failed', { method: intent.method, cause: explainCause(cause) }),
  };
  const listClass = parts.authorizers.perCaller ? listsOfCaller : undefined;
  const performing = createPerforming(
    journey,
    catalogs,
    limits,
    listClass && { listClass, missing: (owner) => missingLists(room, owner) },
  );
  const answering: AnswerParts = {
    journey,
    rooms,
    seal,
    catalog: ({ asker, inbound }) => viewFor(asker, inbound),
    passthrough: createPassthrough(plan.passthroughHeaders),
    incomplete: ({ asker }) => gaps.inLists(listClassOf(asker.owner)),
    lacking: ({ asker }) => gaps.lacking(listClassOf(asker.owner)) as JsonValue | undefined,
    pageOf: (entries, kind, era, cursor, meta) =>
      pageOf(entries, kind, era, cursor, { serverInfo, limits, ...(meta === undefined ? {} : { meta }) }),
  };

  let isSettled = false;
  let firstLists: Promise<void> = Promise.resolve();
  /** Lists of backends that were added are in the catalogues before anybody who waited for them is answered. */
  const settling = (): Promise<void> | undefined => room.settling()?.then(() => catalogs.catchUp());
  const house = createHouse({
    rooms,
    room,
    catalogs,
    answering,
    faces,
    log,
    ...(listClass === undefined ? {} : { listClass }),
    isSettled: () => isSettled,
    settled: () => firstLists,
    settling,
  });
  const face = {
    house,
    routes: mountedRoutes(hooks, plan.endpoint.path, wishes.directPath),
    requests: frozen.requests,
    book: bookOf(parts),
    onSessionEnded: (ended: SessionEnded) => hooks.sessionEnded.call(ended),
  };
  const endpoint =
    before?.endpoint ?? createEndpoint({ ...face, ...plan.endpoint, directPath: wishes.directPath, limits, log, now });
  const sweeping = setInterval(() => {
    lot.sweep();
    rounds.sweep();
  }, SWEEP_MS);
  sweeping.unref();

  const open = async (): Promise<void> => {
    const directory = createDirectory((backends) => room.replace(backends), log);
    const watched = new Map(slots.backendSources.names().map((name) => [name, slots.backendSources.get(name)]));
    const begun = watchSources(watched, (name, snapshot) => directory.update(name, snapshot), log, stopped.signal);
    sources = begun;
    firstLists = begun
      .complete(limits.discoveryMs)
      .then(settling)
      .then(() => {
        isSettled = true;
        checkCatalog(catalogs);
      });
    await begun.first(limits.discoveryMs);
  };

  // Whose the door is: the gateway before has it until this one takes it over, and the next one may take it away.
  let hasDoor = before === undefined;
  let remaining: InFlight | undefined;
  const takeOver = (): void => {
    if (why !== undefined) log.warn('client sessions end with the configuration before', { because: why });
    const hasMoved = before !== undefined;
    if (before !== undefined) moveIn(before);
    before = undefined;
    delete parts.before;
    if (hasMoved) hasDoor = true;
  };
  const moveIn = (before: Estate): void => {
    const kept = new Set(room.states().flatMap(({ backend: { name } }) => (isAdopted(name) ? [name] : [])));
    const endStreams = !isSameDoor(before.plan, plan, doormen);
    const changes = listsThatDiffer(before.catalogs, catalogs);
    before.leave(endpoint.exchange({ ...face, kept, endStreams }));
    shared.settle = rooms.settle;
    for (const change of changes) endpoint.tell(change);
  };
  const drained = async (): Promise<void> => {
    await remaining?.idle(limits.callTotalMs);
    if (remaining !== undefined) await lot.ended();
  };

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopped.abort();
    clearInterval(sweeping);
    if (hasDoor) {
      lot.stop();
      await endpoint.stop();
      rounds.end();
    } else await remaining?.idle(limits.stopMs);
    catalogs.stop();
    await room.stop();
    await hooks.stopping.promise();
  };

  const gateway: Gateway = {
    name: plan.name,
    drained,
    handle: endpoint.handle,
    fetch: endpoint.fetch,
    perform: (asked) => firstLists.then(() => performing.outer(asked)),
    catalog: (capabilityClass = '') => catalogs.of(capabilityClass),
    backends: () => room.states(),
    unready: () => gaps.unready(),
    settled: () => firstLists,
    taps: () => Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, hook.tapNames()])),
    counts: () => ({ ...room.counts(), ...endpoint.counts(), parked: lot.size }),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
  noteEstate(gateway, {
    plan,
    foreign: parts.foreign,
    doormen,
    perCaller: parts.authorizers.perCaller,
    wishes,
    endpoint,
    room,
    catalogs,
    lot,
    seal,
    rounds: shared,
    leave(requests) {
      remaining = requests;
      hasDoor = false;
      // The next gateway hears of backends now. An error as the reason would hold on to it by its stack.
      stopped.abort('taken over');
    },
  });
  return { gateway, performing, backends: { room, gaps }, open, takeOver };
}

/** Outside of any gateway: owners keep it over reloads. */
function listsOfCaller(capabilityClass: string, caller: Caller): string {
  return callerClass(capabilityClass, caller.key);
}

const SWEEP_MS = 1_000;
const NOTHING_EXPECTED: readonly ExpectedBackend[] = [];

/** The sessions of all replicas, when the plan names a store for them. @throws GatewayFault SLOT_UNKNOWN */
function bookOf({ plan, slots, log, now }: JoinParts): SessionBook | undefined {
  if (plan.sessionStorage === undefined) return undefined;
  const { sessionIdleMs } = plan.limits;
  return createSessionBook({ store: slots.stores.get(plan.sessionStorage.store), idleMs: sessionIdleMs, now, log });
}

function missingLists(room: BackendRoom, owner: LinkOwner): Promise<void> | undefined {
  return room.callerLists(owner) === 'missing' ? room.welcome(owner) : undefined;
}

/** Conflicts are said at the start, not only when the first client lists. */
function checkCatalog(catalogs: Catalogs): void {
  try {
    catalogs.of('');
  } catch {
    // the build has logged why, and every list says it again
  }
}
