import { type FromFlags, secretNameOf } from '@toolmgr/plugins/kit/workloads';
import { telemetryPart } from './contract.ts';

/** Traces and metrics. The values of headers are secrets of the workload. */
export const fromFlags: FromFlags = {
  where: '--otel options',
  plan({ telemetry_config: { headers, ...settings } = {} }, { secrets }, use) {
    const values = Object.entries(headers ?? {}).map(([name, reference]) => [name, secrets[secretNameOf(reference)]]);
    return telemetryPart({ ...settings, ...(values.length === 0 ? {} : { headers: Object.fromEntries(values) }) }, use);
  },
};
