import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { type Core, createOutageLog } from '@toolmgr/core';

/** The common interface of both exporters. */
interface Exporter<T> {
  export(items: T, done: (result: ExportResult) => void): void;
}

/**
 * Makes an exporter log outages of its collector: one line when exports start to fail, one when they work again.
 *
 * `count` returns the number of items of an export; lost items are counted in the second line.
 */
export function logOutages<T, E extends Exporter<T>>(
  exporter: E,
  about: Pick<Core, 'log' | 'now'> & { readonly signal: 'traces' | 'metrics'; readonly collector: string },
  count: (items: T) => number,
): E {
  const { signal, collector } = about;
  const outage = createOutageLog(about, {
    began: 'telemetry does not reach its collector',
    over: 'telemetry reaches its collector again',
    fields: { signal, collector },
    counted: 'lost',
  });
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code === ExportResultCode.SUCCESS) outage.over();
      else outage.failed(causeOf(result.error), {}, count(items));
      done(result);
    });
  return exporter;
}

/** The HTTP status or socket error; the body of a response may contain the credentials. */
function causeOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP ${code}`;
  return typeof code === 'string' ? code : (error?.message ?? 'no answer in time');
}
