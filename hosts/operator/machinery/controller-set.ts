import { explainCause, LATE, within } from '@toolmgr/core';
import {
  type Api,
  ApiError,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type ResourceType,
  type WatchEnd,
} from '@toolmgr/plugins/kit/kubernetes';
import type { Cache, Caches, Controller, ControllerLog, EventRecorder, InformerSpec } from './controller.ts';
import { createInformer, type Informer } from './informer.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Controllers with their informers and queues. */
export interface ControllerSet {
  readonly caches: Caches;
  readonly informers: readonly Informer[];
  /** Resolves when every informer has read its objects. */
  readonly synced: Promise<void>;
  readonly queues: readonly { readonly controller: string; readonly queue: WorkQueue }[];
  /** Follows all types until the signal aborts. Once. */
  follow(signal: AbortSignal): Promise<void>;
  /** Begins to reconcile, after `synced`. */
  start(): void;
  /** Starts no reconcile any more, and waits for the running ones, whose signal aborts after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export interface ControllerSetOptions {
  readonly api: Api;
  readonly controllers: readonly Controller[];
  /** Specs of one type are merged. */
  readonly informers: readonly InformerSpec[];
  /** Empty means all. */
  readonly namespaces: readonly string[];
  /** Reconciles at the same time, per controller. */
  readonly concurrency: number;
  readonly events: EventRecorder;
  readonly log: ControllerLog;
  readonly observe?: SetObserver;
  /** Longest reconcile, in milliseconds. */
  readonly reconcileMs?: number;
  readonly now?: () => number;
}

/** What metrics count. */
export interface SetObserver {
  reconciled(controller: string, ms: number, isFailure: boolean): void;
  requeued(controller: string): void;
  watchRestarted(kind: string, reason: WatchEnd): void;
}

/** A reconcile that takes longer is told to stop by its signal. */
const RECONCILE_MS = 120_000;
/** One that does not stop when it is told to is left behind after this multiple, so that no object keeps a worker. */
const STUCK_FACTOR = 1.1;
/** A failure of a list or a watch that lasts is logged again after this time. */
const LOG_AGAIN_MS = 60_000;

/** @throws Error when a controller needs a type that no informer follows, or when specs of one type contradict each other */
export function createControllerSet(options: ControllerSetOptions): ControllerSet {
  const { api, controllers, log, observe, namespaces, now = Date.now, reconcileMs = RECONCILE_MS } = options;
  const informers = new Map<string, Informer>();
  const caches: Caches = {
    of<T extends KubeObject>(type: ResourceType<T>) {
      const informer = informers.get(typeText(type));
      if (informer === undefined) throw new Error(`no informer follows ${type.kind} (${type.apiVersion})`);
      return informer.cache as unknown as Cache<T>;
    },
  };
  const ended = new AbortController();
  const queues = controllers.map((controller) => ({
    controller: controller.name,
    queue: createWorkQueue({
      concurrency: options.concurrency,
      async work(key) {
        const fields = { controller: controller.name, object: keyText(key) };
        const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(reconcileMs)]);
        const context = { api, caches, events: options.events, log: logWith(log, fields), now, signal };
        const outcome = await within(reconcileMs * STUCK_FACTOR, undefined, controller.reconcile(key, context));
        if (outcome === LATE) throw new Error('the reconcile did not end; its worker continues with other objects');
        return outcome;
      },
      done(key, ms, failure) {
        observe?.reconciled(controller.name, ms, failure !== undefined);
        if (failure === undefined) return;
        const isConflict = failure.cause instanceof ApiError && failure.cause.status === 409;
        log[isConflict ? 'info' : 'error']('reconcile failed, it is tried again', {
          controller: controller.name,
          object: keyText(key),
          cause: explainCause(failure.cause),
          againAfterMs: failure.pauseMs,
        });
      },
      requeued: () => observe?.requeued(controller.name),
    }),
  }));
  const routes = routesOf(controllers, queues, caches, log);

  const synced = Promise.withResolvers<void>();
  for (const spec of mergeInformers(options.informers)) {
    const text = typeText(spec.type);
    const { kind } = spec.type;
    const failure = failureLog(log, kind, now);
    const informer = createInformer({
      api,
      spec,
      namespaces,
      changed(before, object) {
        for (const route of routes.get(text) ?? []) route(before, object);
      },
      synced() {
        if ([...informers.values()].every((each) => each.isSynced)) synced.resolve();
      },
      restarted: (reason) => observe?.watchRestarted(kind, reason),
      failed: failure.failed,
      works: failure.works,
      indexFailed(index, object, cause) {
        log.error('an object is not in an index', { kind, object: nameOf(object), index, cause: explainCause(cause) });
      },
    });
    informers.set(text, informer);
  }
  for (const { type, watches } of controllers) for (const each of [{ type }, ...watches]) caches.of(each.type);
  if (informers.size === 0) synced.resolve();

  return {
    caches,
    informers: [...informers.values()],
    synced: synced.promise,
    queues,
    async follow(signal) {
      await Promise.all([...informers.values()].map((informer) => informer.run(signal)));
    },
    start() {
      for (const { queue } of queues) queue.start();
    },
    async stop(graceMs) {
      const timer = setTimeout(() => ended.abort(new Error('the operator stops')), graceMs);
      await Promise.all(queues.map(({ queue }) => queue.stop()));
      clearTimeout(timer);
    },
  };
}

/** One spec per type, with the indexes of all. @throws Error when specs contradict each other */
export function mergeInformers(specs: readonly InformerSpec[]): readonly InformerSpec[] {
  const merged = new Map<string, InformerSpec>();
  for (const spec of specs) {
    const text = typeText(spec.type);
    const before = merged.get(text);
    if (before === undefined) {
      merged.set(text, spec);
      continue;
    }
    for (const name of ['metadataOnly', 'labelSelector', 'strip'] as const) {
      if (before[name] !== spec[name]) throw new Error(`two informers of ${spec.type.kind} differ in ${name}`);
    }
    for (const [name, index] of Object.entries(spec.indexes ?? {})) {
      const known = before.indexes?.[name];
      if (known !== undefined && known !== index) {
        throw new Error(`two informers of ${spec.type.kind} have an index '${name}'`);
      }
    }
    merged.set(text, { ...before, indexes: { ...before.indexes, ...spec.indexes } });
  }
  return [...merged.values()];
}

/** Queues the keys that a change concerns. */
type Route = (before: KubeObject | undefined, now: KubeObject | undefined) => void;

function routesOf(
  controllers: readonly Controller[],
  queues: ControllerSet['queues'],
  caches: Caches,
  log: ControllerLog,
): ReadonlyMap<string, readonly Route[]> {
  const routes = new Map<string, Route[]>();
  const add = (type: ResourceType, route: Route): void => {
    routes.set(typeText(type), [...(routes.get(typeText(type)) ?? []), route]);
  };
  for (const [at, controller] of controllers.entries()) {
    const queue = queues[at]?.queue;
    if (queue === undefined) continue;
    add(controller.type, (before, now) => {
      const object = now ?? before;
      if (object !== undefined) queue.add(keyOf(object));
    });
    for (const watched of controller.watches) {
      const keysOf = (object: KubeObject): readonly ObjectKey[] => {
        try {
          return [...watched.keysOf(object, caches)];
        } catch (cause) {
          const fields = { controller: controller.name, kind: watched.type.kind, object: nameOf(object) };
          log.error('a change cannot be mapped to objects', { ...fields, cause: explainCause(cause) });
          return [];
        }
      };
      add(watched.type, (before, now) => {
        for (const object of [before, now]) if (object !== undefined) for (const key of keysOf(object)) queue.add(key);
      });
    }
  }
  return routes;
}

/** One line when a type cannot be read, again every minute, and one line when it can. */
function failureLog(log: ControllerLog, kind: string, now: () => number) {
  let loggedAt: number | undefined;
  return {
    failed(cause: unknown) {
      if (loggedAt !== undefined && now() - loggedAt < LOG_AGAIN_MS) return;
      loggedAt = now();
      log.warn('objects cannot be followed, it is tried again', { kind, cause: explainCause(cause) });
    },
    works() {
      if (loggedAt !== undefined) log.info('objects are followed again', { kind });
      loggedAt = undefined;
    },
  };
}

function logWith(log: ControllerLog, fields: Readonly<Record<string, unknown>>): ControllerLog {
  const at = (level: keyof ControllerLog) => (message: string, more?: Readonly<Record<string, unknown>>) =>
    log[level](message, { ...fields, ...more });
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function nameOf(object: KubeObject): string {
  return keyText(keyOf(object));
}

function typeText({ apiVersion, plural }: ResourceType): string {
  return `${apiVersion}/${plural}`;
}
