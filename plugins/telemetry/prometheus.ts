import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { RouteAnswer } from '@toolmgr/core';

/** The path for Prometheus. Source: vmcp spec §4. */
export const METRICS_PATH = '/metrics';

/** Serves the metrics of one gateway for Prometheus. */
export interface Prometheus {
  readonly reader: MetricReader;
  readonly answer: RouteAnswer;
}

/**
 * Creates the reader and the handler of `GET /metrics`. It needs no authentication, as Prometheus expects; metrics contain no
 * caller names. Concurrent requests share one collection.
 */
export function createPrometheus(): Prometheus {
  const reader = new OnDemandReader();
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  let reading: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    const { resourceMetrics } = await reader.collect();
    return serializer.serialize(withUnits(resourceMetrics));
  };
  return {
    reader,
    answer: async (_inbound, _body, responder) => {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      responder.send(200, HEADERS, await reading);
    },
  };
}

/** Collects on demand; the exporter of the package would start its own HTTP server. */
class OnDemandReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' };

/** Adds `_seconds` to durations, as usual for Prometheus; the serializer adds only `_total`. */
function withUnits({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  return {
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => {
        const { descriptor } = metric;
        if (descriptor.unit !== 's') return { ...metric, descriptor: { ...descriptor, unit: '' } };
        return { ...metric, descriptor: { ...descriptor, name: `${descriptor.name}_seconds`, unit: '' } };
      }),
    })),
  };
}
