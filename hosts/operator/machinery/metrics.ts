import type { ObservedAnswer } from '@toolmgr/plugins/kit/kubernetes';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SetObserver } from './controller-set.ts';

/** What the page shows at the time of a request. */
export interface MeasuredState {
  queueDepths(): Iterable<readonly [controller: string, depth: number]>;
  /** Number of objects by kind and phase. */
  objects(): Iterable<readonly [kind: string, phase: string, count: number]>;
  isLeader(): boolean;
}

/** Counts, and shows the counts in the text format of Prometheus. */
export interface OperatorMetrics extends SetObserver {
  apiAnswered(answer: ObservedAnswer): void;
  page(): Promise<string>;
  readonly contentType: string;
}

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** `prefix`: of all names, such as `toolmgr_operator`. */
export function createMetrics(prefix: string, state: () => MeasuredState): OperatorMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `${prefix}_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (gauge: Gauge<L>) => void,
  ) =>
    new Gauge<L>({
      ...{ name: name.startsWith('process_') ? name : `${prefix}_${name}`, help, labelNames, registers },
      collect() {
        this.reset();
        read(this);
      },
    });
  const reconciles = new Histogram({
    name: `${prefix}_reconcile_duration_seconds`,
    help: 'Time of one reconcile',
    labelNames: ['controller'],
    buckets: SECONDS,
    registers,
  });
  const errors = counter('reconcile_errors_total', 'Reconciles that failed', ['controller']);
  const requeues = counter('requeues_total', 'Keys that were queued again after a failure or on request', [
    'controller',
  ]);
  const restarts = counter('watch_restarts_total', 'Watches that began again, by the end of the last one', [
    'kind',
    'reason',
  ]);
  const requests = counter('api_requests_total', 'Answers of the API server; code 0 without an answer', [
    ...(['method', 'code', 'watch'] as const),
  ]);
  gauge('queue_depth', 'Keys that wait for a worker', ['controller'], (depth) => {
    for (const [controller, count] of state().queueDepths()) depth.set({ controller }, count);
  });
  gauge('objects', 'Objects by phase', ['kind', 'phase'], (objects) => {
    for (const [kind, phase, count] of state().objects()) objects.set({ kind, phase }, count);
  });
  gauge('leader', '1 when this replica reconciles', [], (leader) => leader.set(state().isLeader() ? 1 : 0));
  gauge('process_resident_memory_bytes', 'Resident memory', [], (memory) => memory.set(process.memoryUsage.rss()));
  return {
    reconciled(controller, ms, isFailure) {
      reconciles.observe({ controller }, ms / 1000);
      if (isFailure) errors.inc({ controller });
    },
    requeued: (controller) => requeues.inc({ controller }),
    watchRestarted: (kind, reason) => restarts.inc({ kind, reason }),
    apiAnswered: ({ method, status, isWatch }) =>
      requests.inc({ method, code: String(status), watch: String(isWatch) }),
    page: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
