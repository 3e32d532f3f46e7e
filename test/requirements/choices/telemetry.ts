import type { Section } from '../section.ts';

/** What spans and metrics hold, and what they cost. */
export const telemetry = [
  {
    source: 'choice: telemetry',
    says: {
      'choice.telemetry.no-idle-settings': 'a setting of telemetry that would have no effect is refused by name',
      'choice.telemetry.not-loaded': 'with tracing, metrics and Prometheus off the plugin is not loaded',
      'choice.telemetry.no-span-objects': 'with tracing off no span is made and no trace context is sent',
      'choice.telemetry.continuous-trace':
        'client, gateway and backend share one trace, in headers and in _meta, in both revisions',
      'choice.telemetry.meta-wins': 'trace context in _meta wins over that of the HTTP headers',
      'choice.telemetry.inner-calls': 'inner calls of a tool of the gateway are children of its span',
      'choice.telemetry.parent-decides': 'the sampling decision of the client holds, and travels to the backend',
      'choice.telemetry.baggage-is-no-header': 'no trace field of a client becomes a header of its own',
      'choice.telemetry.masked-arguments': 'arguments on spans are masked by name and cut',
      'choice.telemetry.no-secrets': 'no text of an error, no result and no header value of a client is on a span',
      'choice.telemetry.bounded-series': 'no client and no backend makes series without bound',
      'choice.telemetry.no-request-ids': 'no metric has an id of a request, a session or a caller',
      'choice.telemetry.optimizer':
        'searches and calls through the optimizer are counted, with what they found and saved',
      'choice.telemetry.collector-away':
        'without a collector calls go on, one line tells of the outage and one of its end',
      'choice.telemetry.bounded-stop': 'a stop sends what waits and takes no longer than its bound',
      'choice.telemetry.one-per-gateway': 'two gateways of one process do not mix, and no global is set',
      'choice.telemetry.reload': 'a changed file starts, changes and ends telemetry, and what waited is sent',
      'choice.telemetry.metrics-open':
        '/metrics is answered without credentials unless statusPages guard it, and counts no scrape as a request',
    },
  },
] as const satisfies readonly Section[];
