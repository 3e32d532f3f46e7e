import type { Meter } from '@opentelemetry/api';
import type { KeptCount } from '@toolmgr/plugins/kit/extension-points';
import { METRICS } from './metric-table.ts';

const NAMES = { results: 'toolmgr_vmcp_kept_results', bytes: 'toolmgr_vmcp_kept_result_bytes' } as const;

/** Gauges of the results that are kept for callers, computed when they are read. */
export function observeKept(meter: Meter, count: () => KeptCount): void {
  for (const [part, name] of Object.entries(NAMES) as [keyof KeptCount, (typeof NAMES)[keyof KeptCount]][]) {
    const { unit, means } = METRICS[name];
    meter.createObservableGauge(name, { unit, description: means }).addCallback((seen) => seen.observe(count()[part]));
  }
}
