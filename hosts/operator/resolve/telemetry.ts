import { mcpTelemetryConfig } from '../kinds/mcp-telemetry-config.ts';
import type { Context, Section } from './context.ts';
import { referredSection } from './referred-section.ts';

/** `telemetry` of the vmcp file; only from `spec.telemetryConfigRef`. `undefined`: a check failed. */
export async function telemetryOf(
  context: Context,
): Promise<{ readonly section?: Section; readonly telemetryConfigHash?: string } | undefined> {
  const { spec, findings } = context;
  const ref = spec.telemetryConfigRef;
  if (spec.config?.telemetry !== undefined) {
    const message = 'spec.config.telemetry is not used in a cluster; use spec.telemetryConfigRef';
    findings.tell('TelemetryConfigIgnored', 'True', 'UseTelemetryConfigRef', message);
  }
  if (ref === undefined) return {};
  const read = await referredSection(mcpTelemetryConfig, ref, context);
  return read && { section: read.section, telemetryConfigHash: read.hash };
}
