import { type Api, keyOf, type Resource } from '@toolmgr/plugins/kit/kubernetes';
import { referencesIndex } from '../../hosts/operator/controllers/references.ts';
import { KINDS } from '../../hosts/operator/kinds/index.ts';
import { typeOfKind } from '../../hosts/operator/kinds/kind.ts';
import type { Controller, EventText, InformerSpec } from '../../hosts/operator/machinery/controller.ts';
import { createControllerSet } from '../../hosts/operator/machinery/controller-set.ts';
import { MANAGED_INFORMERS } from '../../hosts/operator/objects/managed-informers.ts';

/** Controllers that run in the test process, in one namespace. */
export interface RunningControllers extends AsyncDisposable {
  readonly caches: ReturnType<typeof createControllerSet>['caches'];
  /** `reason kind/name` of events, in order. */
  readonly events: readonly string[];
  /** Texts of failed reconciles. */
  readonly failures: readonly string[];
  /** Resolves when no reconcile waits or runs for a moment, in milliseconds. */
  idle(quietMs?: number): Promise<void>;
}

const QUIET_MS = 400;
const STOP_MS = 300;

/** Starts controllers with the informers of the operator. */
export async function startControllers(
  api: Api,
  namespace: string,
  controllers: readonly Controller[],
  more: readonly InformerSpec[] = [],
): Promise<RunningControllers> {
  const events: string[] = [];
  const failures: string[] = [];
  let lastWork = Date.now();
  const informers: InformerSpec[] = [
    ...KINDS.map((kind) => ({ type: typeOfKind(kind), indexes: referencesIndex(kind.kind) })),
    ...MANAGED_INFORMERS,
    ...more,
  ];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (message: string, fields = {}) => void failures.push(`${message} ${JSON.stringify(fields)}`),
  };
  const ended = new AbortController();
  const set = createControllerSet({
    api,
    controllers,
    informers,
    namespaces: [namespace],
    concurrency: 4,
    events: {
      emit(regarding, event: EventText) {
        events.push(`${event.reason} ${regarding.kind}/${keyOf(regarding).name}`);
      },
    },
    log,
    observe: {
      reconciled: () => {
        lastWork = Date.now();
      },
      requeued: () => undefined,
      watchRestarted: () => undefined,
    },
  });
  const following = set.follow(ended.signal);
  await set.synced;
  set.start();
  lastWork = Date.now();
  return {
    caches: set.caches,
    events,
    failures,
    async idle(quietMs = QUIET_MS) {
      lastWork = Date.now();
      const isBusy = (): boolean => set.queues.some(({ queue }) => !queue.isIdle);
      while (!ended.signal.aborted && (isBusy() || Date.now() - lastWork < quietMs))
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async [Symbol.asyncDispose]() {
      if (ended.signal.aborted) return;
      ended.abort();
      // what a killed operator waits for never comes
      const left = new Promise((resolve) => setTimeout(resolve, STOP_MS));
      await Promise.race([Promise.all([set.stop(0), following]), left]);
    },
  };
}

/** `type: status/reason` of the conditions of an object. */
export function conditionsIn(object: unknown): Record<string, string> {
  const { status } = object as Resource<unknown, { conditions?: { type: string; status: string; reason: string }[] }>;
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is}/${reason}`]),
  );
}
