import { caBundleRef, kube, secretKeyRef, text, texts } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { configStatus } from './fields.ts';
import { COLUMNS, defineKind } from './kind.ts';

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

/** MCPTelemetryConfig: where traces and metrics go. */
export const mcpTelemetryConfig = defineKind({
  kind: 'MCPTelemetryConfig',
  plural: 'mcptelemetryconfigs',
  singular: 'mcptelemetryconfig',
  shortNames: ['mcpotel'],
  summary: 'MCPTelemetryConfig is where servers send traces and metrics.',
  spec: z.strictObject({
    openTelemetry: openTelemetry.optional().describe('OpenTelemetry'),
    prometheus: z
      .strictObject({ enabled: z.boolean().default(false).describe('serve /metrics') })
      .optional()
      .describe('Prometheus'),
  }),
  status: z.strictObject(configStatus),
  columns: [{ name: 'Endpoint', type: 'string', jsonPath: '.spec.openTelemetry.endpoint' }, COLUMNS.valid, COLUMNS.age],
});
