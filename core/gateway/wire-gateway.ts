import type { BackendManager } from '../backend/backend-manager.ts';
import { createDirectory } from '../backend/directory.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import { pageOf } from '../catalog/pages.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import type { ClientContext, SessionOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonValue } from '../contract/json.ts';
import { explainCause } from '../errors.ts';
import { callerClass, listClassOf } from '../mcp/capabilities.ts';
import type { AnswerParts } from '../pipeline/answer.ts';
import { createStateSeal } from '../pipeline/bridge/request-state.ts';
import { createSuspendedCalls } from '../pipeline/bridge/suspended-calls.ts';
import { createBridge, createTargetDispatch, type DispatchParts, withUrlQuestions } from '../pipeline/dispatch.ts';
import { catalogFor, createGatewayService } from '../pipeline/gateway-service.ts';
import type { PipelineContext } from '../pipeline/perform.ts';
import { createPerforming, type Performing } from '../pipeline/perform-inner.ts';
import { compilePipeline } from '../pipeline/pipeline.ts';
import { findTarget } from '../pipeline/resolve.ts';
import { createEndpoint } from '../server/endpoint.ts';
import { createSharedSessions, type SharedSessions } from '../server/era-2025-11-25/sessions/session-store.ts';
import { createPassthrough } from '../server/passthrough-headers.ts';
import type { InFlight } from '../timing/in-flight.ts';
import type { Gateway } from './gateway.ts';
import { mountedRoutes } from './mounted-routes.ts';
import type { BackendsBehind } from './plugin-backends.ts';
import {
  type HandoverState,
  isSameDoor,
  listsThatDiffer,
  noteHandoverState,
  sharedRounds,
  whyNotMoved,
} from './reload.ts';
import { type Sources, watchSources } from './sources.ts';
import { type JoinParts, joinFarSide } from './wire-backends.ts';

/** The gateway, closed but joined. `open` lets the backends in. */
export interface WiredGateway {
  readonly gateway: Gateway;
  readonly performing: Performing;
  readonly backends: BackendsBehind;
  open(): Promise<void>;
  /** Takes the door of the gateway before over, with the sessions and streams of its clients. */
  takeOver(): void;
}

/** Joins the rooms of one gateway, from the far side up to the endpoint. Seals the hooks. */
export function wireGateway(parts: JoinParts): WiredGateway {
  const { plan, hooks, slots, log, now, endpointSettings } = parts;
  const { limits } = plan;
  const serverInfo = { name: plan.name, version: plan.version };
  const stopped = new AbortController();

  let sources: Sources | undefined;
  const expected = () => sources?.expected() ?? NOTHING_EXPECTED;
  const { manager, catalogs, faces, gaps, isAdopted } = joinFarSide(parts, serverInfo, expected);
  const authenticators = hooks.authenticate.tapNames();
  const why =
    parts.before &&
    whyNotMoved(parts.before, { plan, authenticators, perCaller: parts.authorizers.perCaller, endpointSettings });
  let before = why === undefined ? parts.before : undefined;
  const suspendedCalls = before?.suspendedCalls ?? createSuspendedCalls(limits, now);
  const seal = before?.seal ?? createStateSeal(plan.stateKey, limits.requestStateTtlMs, limits.requestStateBytes, now);
  const dispatching: DispatchParts = {
    manager,
    suspendedCalls,
    seal,
    limits,
    eraOf: (workload) => manager.eraOf(workload),
  };
  const target = withUrlQuestions(dispatching, createTargetDispatch(manager));
  const frozen = compilePipeline(hooks, target, now);
  const pipeline = { ...frozen, dispatch: createBridge(dispatching, frozen.dispatch), starting: () => gaps.starting() };
  const shared = before?.rounds ?? sharedRounds(limits.requestStateTtlMs, now);
  const { rounds } = shared;
  if (before === undefined) shared.settle = pipeline.settle;
  const viewFor = (client: ClientContext, inbound: Inbound | undefined) => {
    const catalog = catalogFor(catalogs, client);
    return endpointSettings.directPath !== undefined && inbound?.path === endpointSettings.directPath
      ? catalog.direct()
      : catalog;
  };
  const context: PipelineContext = {
    pipeline,
    rounds,
    resolve: (call) => findTarget(viewFor(call.client, call.inbound), call.method, call.name, call.members),
    report: (call, cause) =>
      log.error('a call failed', {
        call: call.id,
        name: call.name,
        workload: call.target.workload,
        cause: explainCause(cause),
      }),
    reportList: (request, cause) => log.error('a list failed', { method: request.method, cause: explainCause(cause) }),
  };
  const listClass = parts.authorizers.perCaller ? listsOfCaller : undefined;
  const performing = createPerforming(
    context,
    catalogs,
    limits,
    listClass && { listClass, missing: (owner) => missingLists(manager, owner) },
  );
  const answering: AnswerParts = {
    context,
    pipeline,
    seal,
    catalog: ({ client, inbound }) => viewFor(client, inbound),
    passthrough: createPassthrough(plan.passthroughHeaders),
    incomplete: ({ client }) => gaps.inLists(listClassOf(client.owner)),
    lacking: ({ client }) => gaps.lacking(listClassOf(client.owner)) as JsonValue | undefined,
    pageOf: (entries, kind, era, cursor, meta) =>
      pageOf(entries, kind, era, cursor, { serverInfo, limits, ...(meta === undefined ? {} : { meta }) }),
  };

  let isSettled = false;
  let firstLists: Promise<void> = Promise.resolve();
  /** Lists of backends that were added are in the catalogues before anybody who waited for them is answered. */
  const settling = (): Promise<void> | undefined => manager.settling()?.then(() => catalogs.catchUp());
  const service = createGatewayService({
    pipeline,
    manager,
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
    service,
    routes: mountedRoutes(hooks, plan.endpoint.path, endpointSettings.directPath),
    requests: frozen.requests,
    sharedSessions: sharedSessionsOf(parts),
    onSessionEnded: (ended: SessionEnded) => hooks.sessionEnded.call(ended),
  };
  const endpoint =
    before?.endpoint ??
    createEndpoint({ ...face, ...plan.endpoint, directPath: endpointSettings.directPath, limits, log, now });
  const sweeping = setInterval(() => {
    suspendedCalls.sweep();
    rounds.sweep();
  }, SWEEP_MS);
  sweeping.unref();

  const open = async (): Promise<void> => {
    const directory = createDirectory((backends) => manager.replace(backends), log);
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
  const moveIn = (before: HandoverState): void => {
    const kept = new Set(manager.states().flatMap(({ backend: { name } }) => (isAdopted(name) ? [name] : [])));
    const endStreams = !isSameDoor(before.plan, plan, authenticators);
    const changes = listsThatDiffer(before.catalogs, catalogs);
    before.leave(endpoint.exchange({ ...face, kept, endStreams }));
    shared.settle = pipeline.settle;
    for (const change of changes) endpoint.tell(change);
  };
  const drained = async (): Promise<void> => {
    await remaining?.idle(limits.callTotalMs);
    if (remaining !== undefined) await suspendedCalls.ended();
  };

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopped.abort();
    clearInterval(sweeping);
    if (hasDoor) {
      suspendedCalls.stop();
      await endpoint.stop();
      rounds.end();
    } else await remaining?.idle(limits.stopMs);
    catalogs.stop();
    await manager.stop();
    await hooks.stopping.promise();
  };

  const gateway: Gateway = {
    name: plan.name,
    drained,
    handle: endpoint.handle,
    fetch: endpoint.fetch,
    perform: (asked) => firstLists.then(() => performing.outer(asked)),
    catalog: (capabilityClass = '') => catalogs.of(capabilityClass),
    backends: () => manager.states(),
    unready: () => gaps.unready(),
    settled: () => firstLists,
    taps: () => Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, hook.tapNames()])),
    counts: () => ({ ...manager.counts(), ...endpoint.counts(), parked: suspendedCalls.size }),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
  noteHandoverState(gateway, {
    plan,
    foreign: parts.foreign,
    authenticators,
    perCaller: parts.authorizers.perCaller,
    endpointSettings,
    endpoint,
    manager,
    catalogs,
    suspendedCalls,
    seal,
    rounds: shared,
    leave(requests) {
      remaining = requests;
      hasDoor = false;
      // The next gateway hears of backends now. An error as the reason would hold on to it by its stack.
      stopped.abort('taken over');
    },
  });
  return { gateway, performing, backends: { manager, gaps }, open, takeOver };
}

/** Outside of any gateway: owners keep it over reloads. */
function listsOfCaller(capabilityClass: string, caller: Caller): string {
  return callerClass(capabilityClass, caller.key);
}

const SWEEP_MS = 1_000;
const NOTHING_EXPECTED: readonly ExpectedBackend[] = [];

/** The sessions of all replicas, when the plan names a store for them. @throws GatewayFault SLOT_UNKNOWN */
function sharedSessionsOf({ plan, slots, log, now }: JoinParts): SharedSessions | undefined {
  if (plan.sessionStorage === undefined) return undefined;
  const { sessionIdleMs } = plan.limits;
  return createSharedSessions({ store: slots.stores.get(plan.sessionStorage.store), idleMs: sessionIdleMs, now, log });
}

function missingLists(manager: BackendManager, owner: SessionOwner): Promise<void> | undefined {
  return manager.callerLists(owner) === 'missing' ? manager.prepareOwner(owner) : undefined;
}

/** Conflicts are said at the start, not only when the first client lists. */
function checkCatalog(catalogs: Catalogs): void {
  try {
    catalogs.of('');
  } catch {
    // the build has logged why, and every list says it again
  }
}
