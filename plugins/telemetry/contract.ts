import type { ContractSection, PlanPart } from '@toolmgr/core';

/** What is read here of the section. */
interface Telemetry {
  readonly endpoint?: string;
  readonly tracingEnabled?: boolean;
  readonly metricsEnabled?: boolean;
  readonly enablePrometheusMetricsPath?: boolean;
}

/** `telemetry`. With everything off the plugin is not loaded, and a call pays nothing for it. */
export const contract: ContractSection = {
  contractKey: 'telemetry',
  leftOutOf: ['listing'],
  fromContract(section: Telemetry | undefined, _facts, use): PlanPart {
    const isOn = section?.tracingEnabled || section?.metricsEnabled || section?.enablePrometheusMetricsPath;
    return isOn ? { plugins: [{ use, with: section }] } : {};
  },
  /** A collector that nothing is sent to. */
  warnings({ endpoint, tracingEnabled, metricsEnabled }: Telemetry) {
    if (endpoint === undefined || tracingEnabled || metricsEnabled) return [];
    return [{ path: ['endpoint'], message: 'nothing is sent there: tracingEnabled and metricsEnabled are off' }];
  },
};
