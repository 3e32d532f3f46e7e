import { mergeSources } from '../backend/merge-sources.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import { GatewayFault } from '../errors.ts';
import { addedLists } from '../pipeline/gateway-service.ts';
import type { InnerCalls } from '../pipeline/perform-inner.ts';
import type { InFlight } from '../timing/in-flight.ts';
import type { Gateway } from './gateway.ts';
import type { BackendsBehind } from './plugin-backends.ts';
import { handOverSessions, noteHandoverState, whyNotMoved } from './reload-handover.ts';
import { type Sources, watchSources } from './sources.ts';
import { type WiringParts, wireBackends } from './wire-backends.ts';
import { wirePipeline } from './wire-pipeline.ts';
import { wireServer } from './wire-server.ts';

/** The gateway, wired but without backends. `open` starts the backend sources. */
export interface WiredGateway {
  readonly gateway: Gateway;
  readonly performing: InnerCalls;
  readonly backends: BackendsBehind;
  open(): Promise<void>;
  /** Takes over the endpoint of the previous gateway, with its client sessions and streams. */
  takeOver(): void;
  /** See `GatewayOptions.ownsProcess`: from the first lists on, because starting loads code, which blocks. */
  sampleProcess(): void;
}

/**
 * Wires the backends, the pipeline and the server of one gateway, and what a reload hands over. Seals the hooks.
 * @throws GatewayFault PLAN_INVALID when client sessions must move to this gateway and cannot
 */
export function wireGateway(parts: WiringParts): WiredGateway {
  const { plan, hooks, slots, log, endpointSettings } = parts;
  const { limits } = plan;
  const stopped = new AbortController();
  const authenticators = hooks.authenticate.tapNames();
  const { perCaller } = parts.authorizers;
  const why = parts.before && whyNotMoved(parts.before, { plan, authenticators, perCaller, endpointSettings });
  if (why !== undefined && parts.sessionsMustMove)
    throw new GatewayFault('PLAN_INVALID', `${why}, which ends the sessions of clients: it needs a restart`);

  let sources: Sources | undefined;
  const wiredBackends = wireBackends(parts, () => sources?.expected() ?? NOTHING_EXPECTED);
  const { manager, catalogs, gaps, serverDescriber, isAdopted } = wiredBackends;
  let before = why === undefined ? parts.before : undefined;
  const wiredPipeline = wirePipeline(parts, wiredBackends, before);
  const { performing, firstLists, suspendedCalls, seal, rounds } = wiredPipeline;
  const { endpoint, replacement } = wireServer(parts, wiredPipeline, before);

  const open = async (): Promise<void> => {
    const directory = mergeSources((backends) => manager.replace(backends), log);
    const watched = new Map(slots.backendSources.names().map((name) => [name, slots.backendSources.get(name)]));
    const begun = watchSources(watched, (name, snapshot) => directory.update(name, snapshot), log, stopped.signal);
    sources = begun;
    firstLists.settled = begun
      .complete(limits.discoveryMs)
      .then(() => addedLists(wiredBackends))
      .then(() => {
        firstLists.isSettled = true;
        checkCatalog(catalogs);
      });
    await begun.first(limits.discoveryMs);
  };

  // The endpoint is served by the previous gateway until this one takes it over; the next gateway takes it over again.
  let hasEndpoint = before === undefined;
  let remaining: InFlight | undefined;
  const takeOver = (): void => {
    if (why !== undefined) log.warn('client sessions end with the previous configuration', { because: why });
    if (before !== undefined) {
      const { settlesRounds } = wiredPipeline;
      const next = { plan, foreign: parts.foreign, authenticators, manager, catalogs, endpoint, replacement };
      handOverSessions(before, { ...next, isAdopted, settlesRounds });
      hasEndpoint = true;
    }
    before = undefined;
    delete parts.before;
  };
  const drained = async (): Promise<void> => {
    await remaining?.idle(limits.callTotalMs);
    if (remaining !== undefined) await suspendedCalls.ended();
  };

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopped.abort();
    wiredPipeline.stopSweeping();
    if (hasEndpoint) {
      suspendedCalls.stop();
      await endpoint.stop();
      rounds.rounds.end();
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
    read: endpoint.read,
    connect: endpoint.connect,
    perform: (asked) => firstLists.settled.then(() => performing.outer(asked)),
    catalog: (capabilityClass = '') => catalogs.of(capabilityClass),
    backends: () => manager.states(),
    restart: async (backend) => manager.restart(backend),
    unready: () => gaps.unready(),
    blocked: () => parts.watch.found(),
    sources: () => slots.backendSources.names().flatMap((name) => slots.backendSources.get(name).state?.() ?? []),
    strategyOf: (backend) => parts.authorizers.strategyOf(backend),
    settled: () => firstLists.settled,
    taps: () => ({
      ...Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, hook.tapNames()])),
      ...parts.points.taps(),
    }),
    counts: () => ({
      ...manager.counts(),
      ...endpoint.counts(),
      parked: suspendedCalls.size,
      bytes: parts.bytes.now.held,
    }),
    endStreams: () => endpoint.endStreams(),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
  noteHandoverState(gateway, {
    plan,
    foreign: parts.foreign,
    authenticators,
    perCaller,
    endpointSettings,
    endpoint,
    bytes: parts.bytes,
    manager,
    catalogs,
    suspendedCalls,
    seal,
    rounds,
    leave(requests) {
      remaining = requests;
      hasEndpoint = false;
      // The next gateway gets events of backends from now on. An error as the reason would keep its stack in memory.
      stopped.abort('taken over');
    },
  });
  const { credentialsChanged = () => {} } = wiredPipeline.service;

  const backends = { manager, gaps, catalogs, serverDescriber, strategyOf: gateway.strategyOf, credentialsChanged };
  const sampleProcess = (): void => {
    void firstLists.settled.then(() => {
      if (stopping === undefined) parts.watch.sampleProcess();
    });
  };
  return { gateway, performing, backends, open, takeOver, sampleProcess };
}

const NOTHING_EXPECTED: readonly ExpectedBackend[] = [];

/** Conflicts are reported at the start, not only when the first client lists. */
function checkCatalog(catalogs: Catalogs): void {
  try {
    catalogs.of('');
  } catch {
    // the build has logged the reason, and every list reports it again
  }
}
