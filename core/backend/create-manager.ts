import type { Authorizer } from '../contract/auth-strategy.ts';
import type { Backend } from '../contract/backend.ts';
import type { Environment } from '../contract/environment.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ListStore } from '../contract/list-store.ts';
import type { StdioLauncher } from '../contract/stdio-launcher.ts';
import { explainCause, GatewayFault } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { HttpClientFactory } from '../http1/http-client.ts';
import type { Limits } from '../limits.ts';
import { ByteBudget } from '../mcp/byte-budget.ts';
import { within } from '../timing/within.ts';
import type {
  BackendListing,
  BackendManager,
  BackendManagerEvents,
  CallerLists,
  LeasedController,
} from './backend-manager.ts';
import type { BackendController } from './controller.ts';
import { addHolder, createController, isHeldBy, programsOf, removeHolder } from './controller-holders.ts';
import type { BackendLists } from './lists/backend-lists.ts';
import { sameBackend } from './merge-sources.ts';
import { sendCall } from './send.ts';
import type { Spawn } from './transports/process-group.ts';

export type { Spawn } from './transports/process-group.ts';

/** What the backend manager is made with. */
export interface BackendManagerOptions {
  readonly limits: Limits;
  /** Bytes in flight of the gateway; a budget of its own unless set. */
  readonly bytes?: ByteBudget;
  /** Time limit for one response, by backend name where set. */
  readonly timeouts: { readonly defaultMs: number; readonly perWorkloadMs: Readonly<Record<string, number>> };
  /** The authorizer of a backend; called once per description. */
  authorizer(backend: string): Authorizer;
  /** The gateway's own name and version, sent to backends. */
  readonly clientInfo: JsonObject;
  now(): number;
  readonly log: Log;
  readonly events: BackendManagerEvents;
  /** See `GatewayOptions`. */
  readonly environment: Environment;
  /** Starts programs; Node's `spawn` unless set. */
  readonly spawn?: Spawn;
  /** An entry of the slot `stdioLaunchers`. */
  launcher?(name: string): StdioLauncher;
  /** Makes the clients of HTTP backends; the core's own unless set. */
  readonly httpClient?: HttpClientFactory;
  /** Controllers of the previous gateway, to take over equal backends with their open sessions and programs. */
  takeOver?(backend: Backend): LeasedController | undefined;
  /** Keeps lists between two runs. */
  readonly listStore?: ListStore | undefined;
}

/** Makes the backend manager. It has no backends until `replace`. */
export function createBackendManager(options: BackendManagerOptions): BackendManager {
  const { limits, timeouts, events, bytes = new ByteBudget(limits) } = options;
  const controllers = new Map<string, BackendController>();
  const leaving = new Set<Promise<void>>();
  /** First attempts to reach new backends, each with a time limit. */
  const arriving = new Set<Promise<unknown>>();
  let settling: Promise<void> | undefined;
  let isStopped = false;

  const begin = (backend: Backend, inherited: ReadonlyMap<string, BackendListing> | undefined): Promise<void> => {
    const { clientInfo, log, now, environment, spawn, launcher, httpClient, listStore } = options;
    const more = inherited === undefined ? {} : { inherited };
    const controller = createController(
      { backend, clientInfo, limits, bytes, log, environment, spawn, launcher, httpClient, now, listStore, ...more },
      options,
    );
    controllers.set(backend.name, controller);
    if (inherited === undefined) events.changed({ name: backend.name, change: 'added', state: controller.state });
    if (controller.servesEarlierRun) events.listed(backend.name, '');
    const started = controller.start();
    arrives(started, controller);
    return started;
  };

  /** Takes over a controller of the previous gateway without stopping it. */
  const adopt = (kept: LeasedController): void => {
    const { name } = kept.backend;
    const controller = addHolder(kept, options);
    if (controller === undefined) return;
    controllers.set(name, controller);
    events.changed({ name, change: 'added', state: controller.state });
    for (const capabilityClass of controller.lists.cache.byClass.keys()) events.listed(name, capabilityClass);
  };

  const arrives = (look: Promise<void>, controller: BackendController): void => {
    const arrival = within(limits.discoveryMs, undefined, look).finally(() => {
      arriving.delete(arrival);
      if (!controller.servesEarlierRun) return;
      const { name } = controller.backend;
      options.log.info('lists of an earlier run are served until the backend has answered', { backend: name });
    });
    arriving.add(arrival);
  };

  /** Backends added meanwhile count too, until the time limit of this wait. */
  const allArrived = async (): Promise<void> => {
    while (arriving.size > 0) await Promise.all(arriving);
  };
  const untilSettled = async (): Promise<void> => {
    await within(limits.discoveryMs, undefined, allArrived());
    settling = undefined;
  };

  /** Work that only a stop waits for. */
  const track = (work: Promise<void>): void => {
    const done = work
      .catch((cause: unknown) => options.log.error('backend not closed cleanly', { cause: explainCause(cause) }))
      .finally(() => leaving.delete(done));
    leaving.add(done);
  };

  const remove = (controller: BackendController): void => {
    const { name } = controller.backend;
    controllers.delete(name);
    track(removeHolder(controller, options));
    events.changed({ name, change: 'removed', state: undefined });
    for (const capabilityClass of controller.lists.cache.byClass.keys()) events.listed(name, capabilityClass);
  };

  const sorted = () => [...controllers.values()].sort((one, other) => (one.backend.name < other.backend.name ? -1 : 1));

  /** What the lists of each backend say, of those that say something. */
  const byName = <T>(read: (lists: BackendLists) => T | undefined): ReadonlyMap<string, T> => {
    const found = new Map<string, T>();
    for (const { backend, lists } of sorted()) {
      const value = read(lists);
      if (value !== undefined) found.set(backend.name, value);
    }
    return found;
  };

  const controllerOf = (backend: string): BackendController => {
    const controller = controllers.get(backend);
    if (controller !== undefined) return controller;
    throw unknownBackend(backend);
  };

  return {
    replace(backends) {
      if (isStopped) return;
      const wanted = new Map(backends.map((backend) => [backend.name, backend]));
      for (const controller of [...controllers.values()]) if (!wanted.has(controller.backend.name)) remove(controller);
      for (const backend of wanted.values()) {
        const known = controllers.get(backend.name);
        if (known !== undefined && sameBackend(known.backend, backend)) continue;
        if (known !== undefined) track(removeHolder(known, options));
        const lent = known === undefined ? options.takeOver?.(backend) : undefined;
        if (lent !== undefined) adopt(lent);
        else void begin(backend, known?.lists.cache.byClass);
      }
    },
    restart(backend) {
      const known = controllerOf(backend);
      track(removeHolder(known, options));
      return begin(known.backend, known.lists.cache.byClass);
    },
    settling() {
      if (settling === undefined && arriving.size > 0) settling = untilSettled();
      return settling;
    },
    states: () => sorted().map((controller) => controller.state),
    eraOf: (backend) => controllers.get(backend)?.availability.era,
    listings: (capabilityClass) => byName(({ cache }) => cache.of(capabilityClass)),
    hasLists(listClass) {
      for (const controller of controllers.values()) if (controller.lists.cache.byClass.has(listClass)) return true;
      return false;
    },
    callerLists(owner) {
      let worst: CallerLists = 'known';
      for (const controller of controllers.values()) {
        const lists = controller.lists.known(owner);
        if (lists === 'missing') return lists;
        if (lists === 'old') worst = lists;
      }
      return worst;
    },
    required: (listClass) => byName((lists) => lists.requiredOf(listClass)),
    unread: (listClass) => byName((lists) => lists.whyUnread(listClass)),
    listsToCome(owner) {
      const readings: Promise<unknown>[] = [];
      for (const controller of controllers.values()) {
        const renewal = controller.lists.renewOld();
        if (renewal !== undefined) readings.push(renewal);
        if (controller.lists.isPending(owner)) readings.push(controller.lists.prepareOwner(owner));
      }
      return readings;
    },
    renewOldLists() {
      for (const controller of controllers.values()) controller.lists.renewOld();
    },
    credentialsChanged(owner) {
      for (const controller of controllers.values()) controller.lists.credentialsChanged(owner);
    },
    async prepareOwner(owner) {
      const preparations = [...controllers.values()].map((controller) => controller.lists.prepareOwner(owner));
      await within(limits.discoveryMs, undefined, Promise.all(preparations));
    },
    send(call) {
      const { backend } = call.target;
      const controller = controllers.get(backend);
      if (controller === undefined) return Promise.reject(unknownBackend(backend));
      return sendCall(
        call,
        controller,
        timeouts.perWorkloadMs[backend] ?? controller.backend.timeoutMs ?? timeouts.defaultMs,
        limits,
      );
    },
    async probe(backend, timeoutMs, signal) {
      await controllerOf(backend).availability.probe(timeoutMs, signal);
    },
    setHealth(backend, health) {
      const controller = controllers.get(backend);
      if (controller !== undefined && isHeldBy(controller, options))
        controller.availability.send({ is: 'health', health });
    },
    lease: (name) => (isStopped ? undefined : controllers.get(name)),
    async watch(backend, uri, owner) {
      await controllerOf(backend).watch(uri, owner);
    },
    async unwatch(backend, uri, owner) {
      await controllers.get(backend)?.unwatch(uri, owner);
    },
    setLogLevel(owner, level) {
      for (const controller of controllers.values()) controller.setLogLevel(owner, level);
    },
    rootsChanged(owner) {
      for (const controller of controllers.values()) controller.rootsChanged(owner);
    },
    release(ownerKey) {
      for (const controller of controllers.values()) track(controller.release(ownerKey));
    },
    counts() {
      let links = 0;
      let callsInFlight = 0;
      let processes = 0;
      for (const controller of controllers.values()) {
        links += controller.countConnections();
        processes += programsOf(controller);
        callsInFlight += controller.concurrencyLimit.inside;
      }
      return { links, processes, callsInFlight };
    },
    async stop() {
      isStopped = true;
      for (const controller of controllers.values()) track(removeHolder(controller, options));
      await Promise.allSettled([...leaving]);
      controllers.clear();
    },
  };
}

function unknownBackend(backend: string): GatewayFault {
  return new GatewayFault('BACKEND_UNKNOWN', `backend "${backend}" is not configured any more`);
}
