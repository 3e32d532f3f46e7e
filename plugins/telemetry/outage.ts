import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Log } from '@toolmgr/core';

/** What exporters of both signals have in common. */
interface Exporter<T> {
  export(items: T, done: (result: ExportResult) => void): void;
}

/**
 * Lets an exporter say that its collector is away: one line when exports begin to fail, one when they work again.
 *
 * `count` says how many items an export holds; those of failed exports are lost and counted in the second line.
 */
export function sayOutages<T, E extends Exporter<T>>(
  exporter: E,
  about: { readonly signal: 'traces' | 'metrics'; readonly collector: string; readonly log: Log },
  count: (items: T) => number,
): E {
  const { signal, collector, log } = about;
  const send = exporter.export.bind(exporter);
  let lost: number | undefined;
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code === ExportResultCode.SUCCESS) {
        if (lost !== undefined) log.info('telemetry reaches its collector again', { signal, collector, lost });
        lost = undefined;
      } else {
        if (lost === undefined) {
          log.warn('telemetry does not reach its collector; calls go on without it', {
            signal,
            collector,
            cause: causeOf(result.error),
          });
        }
        lost = (lost ?? 0) + count(items);
      }
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
