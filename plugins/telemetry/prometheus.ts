import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { RouteAnswer } from '@toolmgr/core';

/** Where Prometheus looks. Source: vmcp spec §4. */
export const METRICS_PATH = '/metrics';

/** Reads the metrics of one gateway when somebody looks. */
export interface Prometheus {
  readonly reader: MetricReader;
  readonly answer: RouteAnswer;
}

/**
 * Makes the reader and the answer of `GET /metrics`. Nobody is asked who they are there, as Prometheus expects; what is
 * served holds no names of callers. Requests that come together share one reading.
 */
export function createPrometheus(): Prometheus {
  const reader = new ReaderOnDemand();
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

/** Collects when asked; the exporter of the package would bring an HTTP server of its own. */
class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' };

/** Durations end in `_seconds` here, as everywhere in Prometheus; the serializer itself only adds `_total`. */
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
