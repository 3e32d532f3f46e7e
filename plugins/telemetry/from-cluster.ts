import {
  caBundleRef,
  type FromCluster,
  kube,
  type SettingsKind,
  secretKeyRef,
  text,
  texts,
} from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const sensitiveHeader = z.strictObject({
  name: text(255).describe('name of the header'),
  secretKeyRef: secretKeyRef.describe('its value'),
});

const openTelemetry = kube(
  z.strictObject({
    enabled: z.boolean().default(false).describe('send traces and metrics with OTLP'),
    endpoint: text(2048).optional().describe('endpoint of the collector'),
    insecure: z.boolean().default(false).describe('plain http'),
    headers: texts.optional().describe('headers of requests; no secrets'),
    sensitiveHeaders: kube(z.array(sensitiveHeader).max(50), { listType: 'map', listMapKeys: ['name'] })
      .optional()
      .describe('headers of requests whose values are secret'),
    resourceAttributes: texts.optional().describe('attributes of the resource'),
    metrics: z
      .strictObject({ enabled: z.boolean().default(false) })
      .optional()
      .describe('metrics'),
    tracing: z
      .strictObject({
        enabled: z.boolean().default(false),
        samplingRate: z
          .string()
          .max(32)
          .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/, 'expected a decimal number from 0 to 1')
          .default('0.05')
          .describe('share of traces, from 0 to 1'),
      })
      .optional()
      .describe('traces'),
    useLegacyAttributes: z.boolean().default(true).describe('also send the former names of attributes'),
    caBundleRef: caBundleRef.optional(),
  }),
  {
    rules: [
      {
        rule: '!has(self.headers) || !has(self.sensitiveHeaders) || !self.sensitiveHeaders.exists(h, h.name in self.headers)',
        message: 'a header must not be in both headers and sensitiveHeaders',
        fieldPath: '.sensitiveHeaders',
      },
      {
        rule: '!has(self.endpoint) || (has(self.tracing) && self.tracing.enabled) || (has(self.metrics) && self.metrics.enabled)',
        message: 'endpoint needs tracing.enabled or metrics.enabled',
        fieldPath: '.endpoint',
      },
      {
        rule: '!(has(self.caBundleRef) && self.insecure)',
        message: 'caBundleRef has no effect with insecure',
        fieldPath: '.caBundleRef',
        reason: 'FieldValueForbidden',
      },
    ],
  },
);

const spec = z.strictObject({
  openTelemetry: openTelemetry.optional().describe('OpenTelemetry'),
  prometheus: z
    .strictObject({ enabled: z.boolean().default(false).describe('serve /metrics') })
    .optional()
    .describe('Prometheus'),
});

const section: SettingsKind['section'] = async (
  { openTelemetry, prometheus }: z.output<typeof spec>,
  { namespace, server, ref },
  pod,
) => {
  const { serviceName = `toolmgr-${server}` } = ref as { readonly serviceName?: string };
  const shared = { serviceName, enablePrometheusMetricsPath: prometheus?.enabled || undefined };
  if (openTelemetry?.enabled !== true) return { section: shared };
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
    section: {
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
    },
  };
};

const reference: SettingsKind['reference'] = {
  by: 'spec.telemetryConfigRef',
  condition: 'TelemetryConfigRefValidated',
  reasons: ['TelemetryConfigRefNotFound', 'TelemetryConfigRefInvalid', 'TelemetryConfigRefValid'],
};

export const kinds: FromCluster['kinds'] = { MCPTelemetryConfig: { spec, reference, section } };
