import { FIELD_NAME, FIELD_VALUE } from '@toolmgr/core';
import { decimalText } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';
import { collectorUrl } from './collector-url.ts';

/** Keys and defaults of the contract; settings without effect are refused. Source: vmcp spec §2 telemetry. */
export const telemetryConfig = z
  .strictObject({
    endpoint: z
      .string()
      .min(1)
      .optional()
      .describe('collector for OTLP over HTTP: `host:port`, or a URL; `/v1/…` is appended to its path'),
    headers: z
      .record(z.string().regex(FIELD_NAME, 'expected a header name'), z.string())
      .refine((headers) => Object.values(headers).every((value) => FIELD_VALUE.test(value)), {
        message: 'expected values without line breaks',
      })
      .default({})
      .describe('sent with every export; use the variable `OTEL_EXPORTER_OTLP_HEADERS` for credentials'),
    headersEnv: z
      .record(z.string().regex(FIELD_NAME, 'expected a header name'), z.string().min(1))
      .default({})
      .describe('headers with the environment variables that hold their values, read at the start (extension)'),
    insecure: z.boolean().default(false).describe('plain HTTP for an endpoint without a scheme'),
    caCertPath: z.string().min(1).optional().describe("PEM file with CA certificates, instead of the system's"),
    serviceName: z.string().min(1).optional().describe('`service.name`; default: the name of the server'),
    serviceVersion: z.string().min(1).optional().describe('`service.version`; default: the version of the product'),
    tracingEnabled: z.boolean().default(false).describe('create spans and send trace context to backends'),
    metricsEnabled: z.boolean().default(false).describe('send metrics to the endpoint once a minute'),
    samplingRate: decimalText(1)
      .default('0.05')
      .describe('share of sampled traces that start here; the sampling of a trace from a client is kept'),
    enablePrometheusMetricsPath: z.boolean().default(false).describe('`GET /metrics` on the main port'),
    customAttributes: z.record(z.string().min(1), z.string()).default({}).describe('attributes of the resource'),
    environmentVariables: z
      .array(z.string().min(1))
      .default([])
      .describe('variables that become span attributes `environment.NAME`, read at the start'),
    useLegacyAttributes: z
      .boolean()
      .default(true)
      .describe('spans have former attribute names in addition to current ones'),
  })
  .superRefine((config, context) => {
    const refuse = (key: keyof typeof config, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    const { endpoint, insecure } = config;
    const named = Object.keys(config.headers).map((name) => name.toLowerCase());
    if (Object.keys(config.headersEnv).some((name) => named.includes(name.toLowerCase()))) {
      refuse('headersEnv', 'a header is in headers too; remove one of the two');
    }
    if (endpoint === undefined) {
      if (config.tracingEnabled) refuse('tracingEnabled', 'needs an endpoint to send spans to');
      if (config.metricsEnabled && !config.enablePrometheusMetricsPath) {
        refuse('metricsEnabled', 'needs an endpoint to send metrics to, or enablePrometheusMetricsPath');
      }
      if (config.caCertPath !== undefined) refuse('caCertPath', 'has no effect without an endpoint');
      if (insecure) refuse('insecure', 'has no effect without an endpoint');
      for (const key of ['headers', 'headersEnv'] as const) {
        if (Object.keys(config[key]).length > 0) refuse(key, 'has no effect without an endpoint');
      }
      return;
    }
    const url = collectorUrl(endpoint, insecure);
    if ('wrong' in url) return refuse(url.at, url.wrong);
    if (config.caCertPath !== undefined && url.base.startsWith('http:')) {
      refuse('caCertPath', 'has no effect over plain HTTP; use https, or remove it');
    }
  });

/** The parsed configuration. */
export type TelemetryConfig = z.output<typeof telemetryConfig>;
