import { durationMs } from '@toolmgr/plugins';
import type { VmcpConfig } from './config-schema.ts';
import type { Problem } from './problem.ts';

/** A collector that nothing is sent to. */
export function silentTelemetry({ telemetry }: VmcpConfig): Problem[] {
  if (telemetry?.endpoint === undefined || telemetry.tracingEnabled || telemetry.metricsEnabled) return [];
  const message = 'nothing is sent there: tracingEnabled and metricsEnabled are off';
  return [{ path: ['telemetry', 'endpoint'], message }];
}

/** Probes that may take until the next one is due. Source: vmcp spec §2 operational, "should be less than the interval". */
export function longProbes({ operational }: VmcpConfig): Problem[] {
  const handling = operational?.failureHandling as Readonly<Record<string, unknown>> | undefined;
  if (handling === undefined) return [];
  const { healthCheckInterval: interval = '30s', healthCheckTimeout: timeout = '10s' } = handling;
  if ((durationMs(String(timeout)) ?? 0) < (durationMs(String(interval)) ?? 0)) return [];
  const message = `${timeout} should be less than healthCheckInterval (${interval}): a probe may last until the next is due`;
  return [{ path: ['operational', 'failureHandling', 'healthCheckTimeout'], message }];
}
