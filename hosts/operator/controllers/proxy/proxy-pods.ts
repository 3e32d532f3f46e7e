import type { Deployment, Pod } from '../../objects/built-in-kinds.ts';
import { countPods, type PodCounts } from '../virtual-mcp-server/pod-counts.ts';
import type { Part } from './proxy-labels.ts';

/** Pods of one part. */
export interface ProxyPods extends PodCounts {
  /** Pods whose containers run. */
  readonly running: number;
}

/** Counts the pods of a part. */
export function proxyPods(all: readonly Pod[], part: Part, deployment?: Deployment): ProxyPods {
  const pods = all.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === part);
  const isRunning = ({ metadata, status }: Pod): boolean =>
    metadata.deletionTimestamp === undefined &&
    (status?.containerStatuses ?? []).some(({ state }) => state !== undefined && 'running' in state);
  return { ...countPods(pods, undefined, deployment), running: pods.filter(isRunning).length };
}
