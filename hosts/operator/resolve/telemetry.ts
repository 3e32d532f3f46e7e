import type { z } from 'zod';
import { mcpTelemetryConfig } from '../kinds/mcp-telemetry-config.ts';
import { contentHash } from '../objects/content-hash.ts';
import type { Context, Section } from './context.ts';
import { withoutUndefined } from './strategy.ts';

const CONDITION = 'TelemetryConfigRefValidated';

/** `telemetry` of the vmcp file; only from `spec.telemetryConfigRef`. `undefined`: a check failed. */
export async function telemetryOf(
  context: Context,
): Promise<{ readonly section?: Section; readonly telemetryConfigHash?: string } | undefined> {
  const { spec, lookups, findings } = context;
  const ref = spec.telemetryConfigRef;
  if (spec.config?.telemetry !== undefined) {
    const message = 'spec.config.telemetry is not used in a cluster; use spec.telemetryConfigRef';
    findings.tell('TelemetryConfigIgnored', 'True', 'UseTelemetryConfigRef', message);
  }
  if (ref === undefined) return {};
  const by = 'spec.telemetryConfigRef';
  const found = lookups.find(mcpTelemetryConfig, ref.name, by);
  if (found.is !== 'valid') {
    const reason = found.is === 'missing' ? 'TelemetryConfigRefNotFound' : 'TelemetryConfigRefInvalid';
    findings.fail(CONDITION, reason, found.message);
    return undefined;
  }
  const section = await sectionOf(found.spec, ref.serviceName ?? `toolmgr-${context.name}`, context);
  if ('problem' in section) {
    findings.fail(CONDITION, 'TelemetryConfigRefInvalid', section.problem);
    return undefined;
  }
  findings.tell(CONDITION, 'True', 'TelemetryConfigRefValid', `MCPTelemetryConfig ${ref.name} is valid`);
  return { section: section.section, telemetryConfigHash: contentHash(found.object.spec) };
}

async function sectionOf(
  { openTelemetry, prometheus }: z.output<typeof mcpTelemetryConfig.spec>,
  serviceName: string,
  { namespace, pod }: Context,
): Promise<{ readonly section: Section } | { readonly problem: string }> {
  const shared = { serviceName, enablePrometheusMetricsPath: prometheus?.enabled || undefined };
  if (openTelemetry?.enabled !== true) return { section: withoutUndefined(shared) };
  const { endpoint, insecure, headers, sensitiveHeaders = [], caBundleRef } = openTelemetry;
  const by = 'MCPTelemetryConfig spec.openTelemetry';
  const headersEnv: Record<string, string> = {};
  for (const { name, secretKeyRef } of sensitiveHeaders) {
    const found = await pod.secretEnv(
      'TOOLMGR_OTEL_HEADER',
      name.toLowerCase(),
      secretKeyRef,
      `${by}.sensitiveHeaders`,
    );
    if ('problem' in found) return found;
    headersEnv[name] = found.name;
  }
  const bundle =
    caBundleRef === undefined
      ? undefined
      : await pod.caFile('telemetry-ca', caBundleRef.configMapRef, `${by}.caBundleRef`);
  if (bundle !== undefined && 'problem' in bundle) return bundle;
  return {
    section: withoutUndefined({
      ...shared,
      endpoint,
      insecure: insecure || undefined,
      headers,
      headersEnv: sensitiveHeaders.length === 0 ? undefined : headersEnv,
      caCertPath: bundle?.path,
      tracingEnabled: openTelemetry.tracing?.enabled || undefined,
      samplingRate: openTelemetry.tracing?.samplingRate,
      metricsEnabled: openTelemetry.metrics?.enabled || undefined,
      customAttributes: { 'service.namespace': namespace, ...openTelemetry.resourceAttributes },
      useLegacyAttributes: openTelemetry.useLegacyAttributes,
    }),
  };
}
