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
  fromContract: (section: Telemetry | undefined, _facts, use) => telemetryPart(section, use),
  /** Warns of an endpoint that is not used. */
  warnings({ endpoint, tracingEnabled, metricsEnabled }: Telemetry) {
    if (endpoint === undefined || tracingEnabled || metricsEnabled) return [];
    return [{ path: ['endpoint'], message: 'is not used: tracingEnabled and metricsEnabled are off' }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};

/** The plugin with its settings, unless everything is off. */
export function telemetryPart(settings: Telemetry = {}, use: string): PlanPart {
  const isOn = settings.tracingEnabled || settings.metricsEnabled || settings.enablePrometheusMetricsPath;
  return isOn ? { plugins: [{ use, with: settings }] } : {};
}
