import { createBackendRoom, type Spawn } from '../backend/create-room.ts';
import { createDirectory } from '../backend/directory.ts';
import type { BackendRoom } from '../backend/room.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import { createCatalogs } from '../catalog/create-catalogs.ts';
import { pageOf } from '../catalog/pages.ts';
import type { LinkOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { RouteAnswer } from '../contract/route.ts';
import { explainCause, GatewayFault } from '../errors.ts';
import type { Hooks } from '../extension/hooks.ts';
import type { Log } from '../extension/plugin.ts';
import type { Slots } from '../extension/slots.ts';
import type { AnswerParts } from '../flow/answer.ts';
import { createBridge, createTargetDispatch, type DispatchParts, withUrlQuestions } from '../flow/dispatch.ts';
import type { Journey } from '../flow/perform.ts';
import { findTarget } from '../flow/resolve.ts';
import { freezeRooms } from '../flow/rooms.ts';
import { createRounds } from '../flow/rounds.ts';
import { createParkingLot } from '../protocol/bridge/parking.ts';
import { createStateSeal } from '../protocol/bridge/request-state.ts';
import { callerClass, listClassOf } from '../protocol/capabilities.ts';
import { createEndpoint } from '../protocol/endpoint.ts';
import { createPassthrough } from '../protocol/passthrough-headers.ts';
import { createSessionBook, type SessionBook } from '../session/session-book.ts';
import type { Authorizers } from './authorizers.ts';
import { createFace } from './face.ts';
import { createGaps } from './gaps.ts';
import type { Gateway } from './gateway.ts';
import { catalogFor, catalogOf, createHouse } from './house.ts';
import { createPerforming, type Performing } from './perform-inner.ts';
import type { Plan } from './plan.ts';
import type { BackendsBehind } from './plugin-backends.ts';
import { watchSources } from './sources.ts';

/** What joining needs: a plan that was read, and hooks and slots that the plugins filled. */
export interface JoinParts {
  readonly plan: Plan;
  readonly hooks: Hooks;
  readonly slots: Slots;
  readonly log: Log;
  readonly now: () => number;
  readonly authorizers: Authorizers;
  readonly spawn?: Spawn;
}

/** The house, closed but joined. `open` lets the backends in. */
export interface JoinedHouse {
  readonly gateway: Gateway;
  readonly performing: Performing;
  readonly backends: BackendsBehind;
  open(): Promise<void>;
}

/** Joins the rooms of one gateway, from the far side up to the endpoint. Seals the hooks. */
export function joinHouse(parts: JoinParts): JoinedHouse {
  const { plan, hooks, slots, log, now } = parts;
  const { limits } = plan;
  const serverInfo = { name: plan.name, version: plan.version };
  const stopped = new AbortController();

  const { room, catalogs, faces, gaps } = joinFarSide(parts, serverInfo);
  const lot = createParkingLot(limits.parkedCalls, limits.requestStateTtlMs, now);
  const seal = createStateSeal(plan.stateKey, limits.requestStateTtlMs, limits.requestStateBytes, now);
  const dispatching: DispatchParts = {
    room,
    lot,
    seal,
    limits,
    eraOf: (workload) => room.eraOf(workload),
  };
  const target = withUrlQuestions(dispatching, createTargetDispatch(room));
  const frozen = freezeRooms(hooks, target, now);
  const rooms = { ...frozen, dispatch: createBridge(dispatching, frozen.dispatch) };
  const rounds = createRounds(MAX_PAUSED_CALLS, limits.requestStateTtlMs, now, (record) => rooms.settle(record));
  const journey: Journey = {
    rooms,
    rounds,
    resolve: (call) => findTarget(catalogFor(catalogs, call.asker), call.method, call.name, call.members),
    report: (call, cause) =>
      log.error('a call failed', {
        call: call.id,
        name: call.name,
        workload: call.target.workload,
        cause: explainCause(cause),
      }),
    reportList: (intent, cause) => log.error('a list failed', { method: intent.method, cause: explainCause(cause) }),
  };
  const listClass = parts.authorizers.perCaller
    ? (capabilityClass: string, caller: Caller) => callerClass(capabilityClass, caller.key)
    : undefined;
  const performing = createPerforming(
    journey,
    catalogs,
    listClass && { listClass, missing: (owner) => missingLists(room, owner) },
  );
  const answering: AnswerParts = {
    journey,
    rooms,
    seal,
    catalog: catalogOf(catalogs),
    passthrough: createPassthrough(plan.passthroughHeaders),
    incomplete: ({ asker }) => gaps.inLists(listClassOf(asker.owner)),
    pageOf: (entries, kind, era, cursor) => pageOf(entries, kind, era, cursor, { serverInfo, limits }),
  };

  let isSettled = false;
  let firstLists: Promise<void> = Promise.resolve();
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
  });
  const endpoint = createEndpoint({
    house,
    limits,
    ...plan.endpoint,
    routes: mountedRoutes(hooks, plan.endpoint.path),
    log,
    now,
    requests: frozen.requests,
    book: bookOf(parts),
    onSessionEnded: (ended) => hooks.sessionEnded.call(ended),
  });
  const sweeping = setInterval(() => {
    lot.sweep();
    rounds.sweep();
  }, SWEEP_MS);
  sweeping.unref();

  const open = async (): Promise<void> => {
    const directory = createDirectory((backends) => room.replace(backends), log);
    const watched = new Map(slots.backendSources.names().map((name) => [name, slots.backendSources.get(name)]));
    const sources = watchSources(watched, (name, snapshot) => directory.update(name, snapshot), log, stopped.signal);
    firstLists = sources
      .first(limits.discoveryMs)
      .then(() => room.settled())
      .then(() => {
        isSettled = true;
        checkCatalog(catalogs, log);
      });
    await sources.first(limits.discoveryMs);
  };

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopped.abort();
    clearInterval(sweeping);
    lot.stop();
    await endpoint.stop();
    rounds.end();
    catalogs.stop();
    await room.stop();
    await hooks.stopping.promise();
  };

  const gateway: Gateway = {
    name: plan.name,
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
  return { gateway, performing, backends: { room, gaps }, open };
}

const MAX_PAUSED_CALLS = 10_000; // of all callers; the oldest is recorded as abandoned when more come
const SWEEP_MS = 1_000;

/** The far side and what is known of it. */
function joinFarSide(
  { plan, hooks, log, now, authorizers, spawn }: JoinParts,
  serverInfo: { name: string; version: string },
) {
  const { limits } = plan;
  const room: BackendRoom = createBackendRoom({
    limits,
    timeouts: plan.timeouts,
    authorizer: (workload) => authorizers.of(workload),
    clientInfo: serverInfo,
    now,
    log,
    ...(spawn === undefined ? {} : { spawn }),
    events: {
      listed(workload, capabilityClass) {
        faces.stale();
        gaps.stale();
        catalogs.changed(workload, capabilityClass);
      },
      changed(event) {
        faces.stale();
        gaps.stale();
        hooks.backendChanged.call(event);
      },
    },
  });
  const catalogs: Catalogs = createCatalogs({
    room,
    workloads: () => room.states().map(({ backend }) => backend.name),
    shape: (draft, inputs) => (hooks.shapeCatalog.tapped() ? hooks.shapeCatalog.call(draft, inputs) : draft),
    serverInfo,
    limits,
    ...(plan.maxToolNameLength === undefined ? {} : { maxToolNameLength: plan.maxToolNameLength }),
    now,
    log,
    onRebuilt: (rebuilt) => hooks.catalogRebuilt.call(rebuilt),
  });
  const faces = createFace(serverInfo, room, limits.instructionsBytes);
  const gaps = createGaps(room);
  return { room, catalogs, faces, gaps };
}

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
function checkCatalog(catalogs: Catalogs, log: Log): void {
  try {
    catalogs.of('');
  } catch (cause) {
    log.error('the catalogue could not be made', { cause: explainCause(cause) });
  }
}

/** Answers by path, then by method. */
function mountedRoutes(hooks: Hooks, endpointPath: string): ReadonlyMap<string, MountedRoute> {
  const routes = new Map<string, Partial<Record<'GET' | 'POST' | 'DELETE', RouteAnswer>>>();
  hooks.mount.call({
    endpointPath,
    add(method, path, answer) {
      const route = routes.get(path) ?? {};
      if (route[method] !== undefined) throw new GatewayFault('ROUTE_TAKEN', `${method} ${path} is mounted twice`);
      routes.set(path, { ...route, [method]: answer });
    },
  });
  return routes;
}

type MountedRoute = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', RouteAnswer>>>;
