import type { PlanPart } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** The members of the section that are read here. */
interface Telemetry {
  readonly endpoint?: string;
  readonly tracingEnabled?: boolean;
  readonly metricsEnabled?: boolean;
  readonly enablePrometheusMetricsPath?: boolean;
}

/** `telemetry`. When everything is off the plugin is not loaded. */
export const contract: ClusterReader = {
  fromContract(section: Telemetry | undefined, _facts, use): PlanPart {
    const isOn = section?.tracingEnabled || section?.metricsEnabled || section?.enablePrometheusMetricsPath;
    return isOn ? { plugins: [{ use, with: section }] } : {};
  },
  /** Warns of an endpoint that is not used. */
  warnings({ endpoint, tracingEnabled, metricsEnabled }: Telemetry) {
    if (endpoint === undefined || tracingEnabled || metricsEnabled) return [];
    return [{ path: ['endpoint'], message: 'is not used: tracingEnabled and metricsEnabled are off' }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};
