import { keyText, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { type PodReport, REPORT_ANNOTATIONS, reportAnnotation } from '../../../vmcp/pod-report.ts';
import type { ReconcileContext } from '../../machinery/controller.ts';
import { configMaps, type Pod } from '../../objects/built-in-kinds.ts';
import { MANAGER } from '../../objects/owned-objects.ts';
import type { Contents } from '../contents.ts';
import { readReport } from './join-reports.ts';
import { isReady } from './pod-counts.ts';
import { CHECKSUM_ANNOTATION } from './pod-template.ts';

/** Texts of reports by pod name. */
export type ReportTexts = Readonly<Record<string, string>>;

/** Reports whose times alone changed are read again after this time. */
const TIMES_READ_MS = 300_000;

/**
 * The reports of a config map. They are read when an annotation of a pod has changed: pods write times twice a minute, and a
 * request for each would be most of what the operator asks for.
 * @throws ApiError
 */
export async function readTexts(
  map: ObjectKey,
  contents: Contents,
  { caches, now }: ReconcileContext,
): Promise<ReportTexts> {
  const { uid, annotations = {} } = caches.of(configMaps).get(map)?.metadata ?? {};
  const ofPods = Object.entries(annotations).filter(([name]) => name.startsWith(REPORT_ANNOTATIONS));
  const version = JSON.stringify([uid, ofPods.sort(), Math.floor(now() / TIMES_READ_MS)]);
  return (await contents.configMap(map, version)) ?? {};
}

/**
 * Reports of ready pods. A report counts when the pod has loaded the configuration that its annotation names, and this one is
 * the wanted one. `checksum`: the wanted configuration; without it that of each pod.
 */
export function reportsOf(
  texts: ReportTexts,
  pods: readonly Pod[],
  checksum: string | undefined,
): readonly PodReport[] {
  return pods.filter(isReady).flatMap(({ metadata: { name, annotations } }) => {
    const wanted = annotations?.[CHECKSUM_ANNOTATION];
    if (checksum !== undefined && wanted !== checksum) return [];
    const report = Object.hasOwn(texts, name) ? readReport(texts[name]) : undefined;
    return report?.configChecksum === wanted && report !== undefined ? [report] : [];
  });
}

/** Removes the reports of pods that are gone. */
export interface ReportCleaner {
  /**
   * Removes keys without a pod for some time: the cache may not have a new pod yet.
   * @returns milliseconds until a key can be removed; `undefined` when every key has a pod
   */
  clean(
    map: ObjectKey,
    texts: ReportTexts,
    pods: readonly Pod[],
    context: ReconcileContext,
  ): Promise<number | undefined>;
  /** Forgets a config map that is gone. */
  forget(map: ObjectKey): void;
}

/** How long a report is kept without its pod. */
export const REPORT_KEPT_MS = 60_000;

/** Removes reports; one per controller. */
export function createReportCleaner(): ReportCleaner {
  const goneSince = new Map<string, Map<string, number>>();
  return {
    async clean(map, texts, pods, { api, now }) {
      const living = new Set(pods.map(({ metadata }) => metadata.name));
      const gone = Object.keys(texts).filter((name) => !living.has(name));
      const before = goneSince.get(keyText(map));
      const since = new Map(gone.map((name) => [name, before?.get(name) ?? now()]));
      if (since.size === 0) goneSince.delete(keyText(map));
      else goneSince.set(keyText(map), since);
      const old = gone.filter((name) => now() - (since.get(name) ?? 0) >= REPORT_KEPT_MS);
      if (old.length > 0) {
        const data = Object.fromEntries(old.map((name) => [name, null]));
        const annotations = Object.fromEntries(old.map((name) => [reportAnnotation(name), null]));
        await api.patch(configMaps, map, { metadata: { annotations }, data }, { manager: MANAGER });
        for (const name of old) since.delete(name);
      }
      if (since.size === 0) return undefined;
      return Math.min(...since.values()) + REPORT_KEPT_MS - now();
    },
    forget: (map) => void goneSince.delete(keyText(map)),
  };
}
