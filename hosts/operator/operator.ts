import { explainCause, LATE, untilAborted, within } from '@toolmgr/core';
import { type Connection, createApi, type KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { widenYoungGeneration } from '../shared/engine.ts';
import { VERSION } from '../shared/version.ts';
import { referencesIndex } from './controllers/references.ts';
import { KINDS } from './kinds/index.ts';
import { API_GROUP, typeOfKind } from './kinds/kind.ts';
import type { ControllerLog, InformerSpec } from './machinery/controller.ts';
import { type ControllerSet, createControllerSet } from './machinery/controller-set.ts';
import { createEventRecorder } from './machinery/event-recorder.ts';
import { type ListenAddress, type Page, type Pages, servePages } from './machinery/http-pages.ts';
import { acquireLeadership, type Leadership } from './machinery/leader-election.ts';
import { createMetrics, type OperatorMetrics } from './machinery/metrics.ts';
import { type OperatorPart, PARTS } from './parts.ts';
import type { OperatorSettings } from './settings.ts';

/** What an operator runs with. */
export interface OperatorOptions {
  readonly connection: Connection;
  readonly settings: OperatorSettings;
  /** Where `/metrics` is served. */
  readonly metrics: ListenAddress | 'none';
  /** Where `/healthz` and `/readyz` are served. */
  readonly probes: ListenAddress | 'none';
  /** Reconciles only while this replica holds the Lease. */
  readonly leaderElect: boolean;
  /** Reconciles at the same time, per kind. */
  readonly concurrency: number;
  readonly log: ControllerLog;
  readonly parts?: readonly ((settings: OperatorSettings) => OperatorPart)[];
}

/** A started operator. */
export interface RunningOperator extends AsyncDisposable {
  /** Resolves with the reason when it may not reconcile any more, because it lost the Lease. */
  readonly lost: Promise<string>;
  readonly metricsPort: number | undefined;
  readonly probesPort: number | undefined;
  /** Resolves when the running reconciles have ended and the Lease is given up. */
  stop(): Promise<void>;
}

/** The Lease of the operators of a namespace, unless they name another. */
export const LEASE = 'toolmgr-operator-leader-election';
/** A request for the Lease that takes longer has failed, so that there is time for another one. */
const LEASE_REQUEST_MS = 5_000;
/** Running reconciles are ended after this time; a pod has 30 s to stop. */
const STOP_MS = 15_000;
const FLUSH_MS = 5_000;
/** What is still not read after this time is logged. */
const SLOW_START_MS = 15_000;

/** Starts an operator. It waits for a server that cannot be reached. @throws Error when an address is in use */
export async function startOperator(options: OperatorOptions): Promise<RunningOperator> {
  const { connection, settings, log, leaderElect, concurrency, parts = PARTS } = options;
  // Some schemas depend on one file. Compiled code of each took longer than its check, and 300 MB until a full collection.
  z.config({ jitless: true });
  let leadership: Leadership | undefined;
  let isWorking = false;
  const metrics: OperatorMetrics = createMetrics('toolmgr_operator', () => ({
    queueDepths: () => set.queues.map(({ controller, queue }) => [controller, queue.depth] as const),
    objects: () => phasesOf(set),
    isLeader: () => isWorking,
  }));
  const userAgent = `toolmgr-operator/${VERSION}`;
  const observe = metrics.apiAnswered;
  const api = createApi(connection, { userAgent, observe });
  const leaseApi = createApi(connection, { userAgent, observe, timeoutMs: LEASE_REQUEST_MS });
  const recorder = createEventRecorder({ api, controller: `${API_GROUP}/operator`, instance: settings.identity, log });
  const made = parts.map((part) => part(settings));
  const set: ControllerSet = createControllerSet({
    api,
    controllers: made.flatMap(({ controllers }) => controllers),
    informers: [...ownInformers(), ...made.flatMap(({ informers = [] }) => informers)],
    namespaces: settings.namespaces,
    concurrency,
    events: recorder,
    log,
    observe: metrics,
  });
  const stopping = new AbortController();
  const following = new AbortController();
  const lost = Promise.withResolvers<string>();
  const probes: Pages = { '/healthz': () => ({ status: 200, text: 'ok\n' }), '/readyz': () => readiness(set) };
  const metricsPages: Pages = {
    '/metrics': async () => ({ status: 200, text: await metrics.page(), contentType: metrics.contentType }),
  };
  const served = await serveAll(options, probes, metricsPages);

  widenYoungGeneration(); // before the lists are read, so that their memory is returned when the process is idle
  const followed = set.follow(following.signal);
  const work = async (): Promise<void> => {
    const startedMs = performance.now();
    const slow = setTimeout(() => log.warn('not all objects are read yet', { cause: unreadText(set) }), SLOW_START_MS);
    await Promise.race([set.synced, untilAborted(stopping.signal)]);
    clearTimeout(slow);
    if (stopping.signal.aborted) return;
    log.info('all objects are read', { ms: Math.round(performance.now() - startedMs) });
    if (leaderElect) {
      const lease = { namespace: settings.namespace, name: settings.leaseName ?? LEASE };
      const election = { api: leaseApi, lease, identity: settings.identity, log };
      leadership = await acquireLeadership(election, stopping.signal);
      if (leadership === undefined) return;
      void leadership.lost.then((reason) => {
        isWorking = false;
        void set.stop(0);
        lost.resolve(reason);
      });
    }
    if (stopping.signal.aborted) return;
    isWorking = true;
    set.start();
  };
  const working = work();

  const stop = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    await working;
    await set.stop(STOP_MS);
    isWorking = false;
    const flushed = await within(FLUSH_MS, undefined, recorder.flush());
    if (flushed === LATE) log.warn('some events are not written');
    await leadership?.release();
    following.abort();
    await followed;
    await Promise.all([api, leaseApi, ...served.all].map((each) => each[Symbol.asyncDispose]()));
  };
  return {
    lost: lost.promise,
    metricsPort: served.metricsPort,
    probesPort: served.probesPort,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The own kinds with the index of their references. */
function ownInformers(): readonly InformerSpec[] {
  return KINDS.map((kind) => ({ type: typeOfKind(kind), indexes: referencesIndex(kind.kind) }));
}

/** Ready when everything was read once; a later outage of the API server does not change it. */
function readiness(set: ControllerSet): Page {
  const unread = unreadText(set);
  return unread === '' ? { status: 200, text: 'ok\n' } : { status: 503, text: `${unread}\n` };
}

function unreadText({ informers }: ControllerSet): string {
  return informers
    .filter(({ isSynced }) => !isSynced)
    .map(({ spec, failure }) => (failure === undefined ? `${spec.type.kind} is not read yet` : explainCause(failure)))
    .join('\n');
}

function phasesOf({ caches }: ControllerSet): readonly (readonly [string, string, number])[] {
  return KINDS.flatMap((kind) => {
    const counts = new Map<string, number>();
    for (const object of caches.of(typeOfKind(kind)).list()) {
      const phase = phaseOf(object);
      counts.set(phase, (counts.get(phase) ?? 0) + 1);
    }
    return [...counts].map(([phase, count]) => [kind.kind, phase, count] as const);
  });
}

function phaseOf(object: KubeObject): string {
  const { status } = object as KubeObject & { readonly status?: { readonly phase?: unknown } };
  return typeof status?.phase === 'string' ? status.phase : '';
}

async function serveAll({ metrics, probes }: OperatorOptions, probePages: Pages, metricsPages: Pages) {
  const isSame =
    metrics !== 'none' && probes !== 'none' && metrics.port !== 0 && JSON.stringify(metrics) === JSON.stringify(probes);
  const atProbes =
    probes === 'none' ? undefined : await servePages(probes, isSame ? { ...probePages, ...metricsPages } : probePages);
  const atMetrics =
    metrics === 'none' || isSame ? undefined : await serveOr(atProbes, () => servePages(metrics, metricsPages));
  return {
    probesPort: atProbes?.port,
    metricsPort: isSame ? atProbes?.port : atMetrics?.port,
    all: [atProbes, atMetrics].filter((each) => each !== undefined),
  };
}

/** Closes the first when the second cannot be opened. */
async function serveOr<T>(first: AsyncDisposable | undefined, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    await first?.[Symbol.asyncDispose]();
    throw cause;
  }
}
