import { randomUUID } from 'node:crypto';
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Meter, Tracer } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, type MetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { type Core, FIELD_VALUE, GatewayFault, LATE, proxyRouteFor, readCaBundle, within } from '@toolmgr/core';
import { readSecret, type SecretSlots } from '@toolmgr/plugins/kit/secrets';
import { collectorUrl } from './collector-url.ts';
import type { TelemetryConfig } from './config.ts';
import { logOutages } from './log-outages.ts';

/** Maximum queued spans; further ones are dropped. */
const QUEUE_SPANS = 2_048;
/** Spans of one export, which are encoded synchronously. */
const BATCH_SPANS = 256;
const SPAN_DELAY_MS = 2_000;
const METRIC_INTERVAL_MS = 60_000;
/** Timeout of an export with its retries; a collector may get a span twice. */
const EXPORT_MS = 5_000;
/** Maximum time that a stop waits for the last exports. */
const STOP_MS = 3_000;
/** Maximum characters of one attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 1_024;
const SCOPE = 'toolmgr';

/** Tracer and meter of one gateway with their exporters; not shared with other gateways of the process. */
export interface Exporters {
  readonly tracer: Tracer | undefined;
  readonly meter: Meter | undefined;
  /** Sends queued data, within {@link STOP_MS}. */
  stop(): Promise<void>;
}

/**
 * Creates the configured exporters; `readers` are additional readers of the metrics.
 * @throws GatewayFault PLAN_INVALID for an invalid CA file or header value; SECRET_MISSING
 */
export async function openExporters(
  { server, log, now, slots, environment }: Pick<Core, 'server' | 'log' | 'now' | 'slots' | 'environment'>,
  config: TelemetryConfig,
  readers: readonly MetricReader[],
): Promise<Exporters> {
  const collector = openCollector(config, await headersOf(config, slots), environment);
  const resource = resourceOf(server, config);
  const exporterInfo = (signal: 'traces' | 'metrics') => ({ signal, collector: collector?.base ?? '', log, now });

  const tracers =
    collector === undefined || !config.tracingEnabled
      ? undefined
      : new TracerProvider({
          resource,
          sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(config.samplingRate)) }),
          spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
          spanProcessors: [
            new BatchSpanProcessor({
              exporter: logOutages(
                new OTLPTraceExporter(collector.options('traces')),
                exporterInfo('traces'),
                (spans: readonly unknown[]) => spans.length,
              ),
              maxQueueSize: QUEUE_SPANS,
              maxExportBatchSize: BATCH_SPANS,
              scheduledDelayMillis: SPAN_DELAY_MS,
              exportTimeoutMillis: EXPORT_MS,
            }),
          ],
        });

  const periodicReaders =
    collector === undefined || !config.metricsEnabled
      ? []
      : [
          new PeriodicExportingMetricReader({
            exporter: logOutages(
              new OTLPMetricExporter(collector.options('metrics')),
              exporterInfo('metrics'),
              () => 1,
            ),
            exportIntervalMillis: METRIC_INTERVAL_MS,
            exportTimeoutMillis: EXPORT_MS,
          }),
        ];
  const all = [...periodicReaders, ...readers];
  const meters = all.length === 0 ? undefined : new MeterProvider({ resource, readers: all });

  return {
    tracer: tracers?.getTracer(SCOPE, server.version),
    meter: meters?.getMeter(SCOPE, server.version),
    async stop() {
      const sent = await within(STOP_MS, undefined, Promise.allSettled([tracers?.shutdown(), meters?.shutdown()]));
      if (sent === LATE)
        log.warn('queued telemetry was not sent before the stop', { collector: collector?.base ?? '' });
      collector?.close();
    },
  };
}

function openCollector(
  config: TelemetryConfig,
  headers: Readonly<Record<string, string>>,
  environment: Core['environment'],
) {
  if (config.endpoint === undefined || !(config.tracingEnabled || config.metricsEnabled)) return undefined;
  const url = collectorUrl(config.endpoint, config.insecure);
  if ('wrong' in url) throw new GatewayFault('PLUGIN_FAILED', `telemetry.endpoint: ${url.wrong}`);
  const { base } = url;
  const through = proxyOptions(base, environment);
  const agent = base.startsWith('http:')
    ? new PlainAgent({ keepAlive: true, ...through })
    : new TlsAgent({
        keepAlive: true,
        ...through,
        ...(config.caCertPath === undefined ? {} : { ca: readCaBundle(config.caCertPath, 'telemetry.caCertPath') }),
      });
  return {
    base,
    options: (signal: 'traces' | 'metrics') => ({
      url: `${base}/v1/${signal}`,
      headers: { ...headers },
      timeoutMillis: EXPORT_MS,
      httpAgentOptions: () => agent,
    }),
    close: () => agent.destroy(),
  };
}

/** The headers of every export. @throws GatewayFault SECRET_MISSING, PLAN_INVALID */
async function headersOf(
  { headers, headersEnv }: TelemetryConfig,
  slots: SecretSlots,
): Promise<Readonly<Record<string, string>>> {
  const secret = async ([header, name]: [string, string]): Promise<[string, string]> => {
    const setting = `telemetry.headersEnv.${header}`;
    const value = (await readSecret(slots, name, setting)).reveal();
    if (FIELD_VALUE.test(value)) return [header, value];
    throw new GatewayFault('PLAN_INVALID', `${setting}: ${name} holds nothing that a header can carry`);
  };
  return { ...headers, ...Object.fromEntries(await Promise.all(Object.entries(headersEnv).map(secret))) };
}

/** The proxy of the environment for the collector, as options for agents of Node 22.21, 24.5 and newer. */
function proxyOptions(base: string, environment: Core['environment']): { readonly proxyEnv?: NodeJS.ProcessEnv } {
  const route = proxyRouteFor(new URL(base), environment);
  return route === undefined ? {} : { proxyEnv: { HTTP_PROXY: route.url, HTTPS_PROXY: route.url } };
}

/** `OTEL_RESOURCE_ATTRIBUTES` adds attributes; the configuration overrides them. */
function resourceOf(server: Core['server'], config: TelemetryConfig): Resource {
  const { serviceName, serviceVersion, customAttributes } = config;
  const base = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: server.name,
    [ATTR_SERVICE_VERSION]: server.version,
    [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
  });
  const chosen = resourceFromAttributes({
    ...customAttributes,
    ...(serviceName === undefined ? {} : { [ATTR_SERVICE_NAME]: serviceName }),
    ...(serviceVersion === undefined ? {} : { [ATTR_SERVICE_VERSION]: serviceVersion }),
  });
  return base.merge(detectResources({ detectors: [envDetector] })).merge(chosen);
}
