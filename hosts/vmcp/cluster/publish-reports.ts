import { backOffMs, explainCause, type Log, untilAborted } from '@toolmgr/core';
import {
  type Api,
  ApiError,
  type Applied,
  type KubeObject,
  pause,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import { type PodReport, reportAnnotation, shortHash } from '../pod-report.ts';
import { materialOf } from './report-of.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const CONFIG_MAPS: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };

/** What {@link publishReports} needs. */
export interface PublishOptions {
  readonly api: Pick<Api, 'apply'>;
  readonly namespace: string;
  /** The config map of all pods. */
  readonly configMap: string;
  /** Name of this pod: the key of its report, and the field manager that owns the key. */
  readonly pod: string;
  /** The longest time between two reports; `operational.failureHandling.statusReportingInterval`. */
  readonly intervalMs: number;
  readonly report: () => PodReport;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

/**
 * Writes the report of this pod: within two seconds after a material change, otherwise once per interval. Ends when `signal` aborts,
 * and then removes the report, if the API answers in time.
 *
 * The API is never needed to serve: a failed write is repeated with back-off.
 */
export async function publishReports(options: PublishOptions): Promise<void> {
  const { intervalMs, report, log, signal, now = Date.now } = options;
  let written: { readonly material: string; readonly atMs: number } | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const current = report();
      const material = materialOf(current);
      if (written?.material !== material || now() - written.atMs >= intervalMs) {
        await write(options, { text: JSON.stringify(current), material });
        if (failures > 0) log.info('the pod report is written again');
        written = { material, atMs: now() };
        failures = 0;
      }
    } catch (cause) {
      failures += 1;
      if (failures === 1) {
        log.warn('the pod report cannot be written; requests are served, and it is tried again', {
          configMap: options.configMap,
          cause: explainCause(cause),
        });
      }
    }
    const waitMs = failures === 0 ? LOOK_MS : backOffMs(failures, RETRY);
    await pause(waitMs, signal);
  }
  if (written !== undefined) await remove(options);
}

/**
 * Applies only the own key and the own annotation, or none: server-side apply then removes them. The operator follows the
 * annotations and reads the reports when one has changed.
 * @throws ApiError
 */
async function write(
  { api, namespace, configMap, pod }: PublishOptions,
  report?: { readonly text: string; readonly material: string },
): Promise<void> {
  const annotations = report && { [reportAnnotation(pod)]: shortHash(report.material) };
  const object: Applied<ConfigMap> = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMap, namespace, ...(annotations && { annotations }) },
    ...(report && { data: { [pod]: report.text } }),
  };
  await api.apply(CONFIG_MAPS, object, { manager: pod });
}

/** The operator removes reports of pods that are gone, so this is only faster. */
async function remove(options: PublishOptions): Promise<void> {
  const { log } = options;
  try {
    await Promise.race([write(options), untilAborted(AbortSignal.timeout(REMOVE_MS))]);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    log.debug('the pod report was not removed', { cause: explainCause(cause) });
  }
}

const LOOK_MS = 1_000; // a change is written within two seconds
const REMOVE_MS = 2_000;
const RETRY = { firstMs: 1_000, maxMs: 60_000 };
