import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { type Core, createOutageLog } from '@toolmgr/core';

/** What exporters of both signals have in common. */
interface Exporter<T> {
  export(items: T, done: (result: ExportResult) => void): void;
}

/**
 * Makes an exporter log that its collector is away: one line when exports begin to fail, one when they work again.
 *
 * `count` says how many items an export holds; those of failed exports are lost and counted in the second line.
 */
export function logOutages<T, E extends Exporter<T>>(
  exporter: E,
  about: Pick<Core, 'log' | 'now'> & { readonly signal: 'traces' | 'metrics'; readonly collector: string },
  count: (items: T) => number,
): E {
  const { signal, collector } = about;
  const outage = createOutageLog(about, {
    began: 'telemetry does not reach its collector; calls are served without it',
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

/** The status or the code of a socket; the body of an answer may repeat the credentials that were sent. */
function causeOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP ${code}`;
  return typeof code === 'string' ? code : (error?.message ?? 'no answer in time');
}
