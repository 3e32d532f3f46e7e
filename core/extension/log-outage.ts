import type { JsonObject } from '../contract/json.ts';
import { explainCause } from '../errors.ts';
import type { Log } from './plugin.ts';

/** The lines of one outage. */
export interface OutageLines {
  /** Message of the first line, for example `the redis store is unavailable`. */
  readonly began: string;
  /** Message of the last line. */
  readonly over: string;
  /** Level of the first line: `warn` unless given. */
  readonly level?: 'warn' | 'error';
  /** Level of the last line: `info` unless given. */
  readonly overLevel?: 'info' | 'warn';
  /** Fields of every line, for example the address. */
  readonly fields?: JsonObject;
  /** Name of the field that counts: `failures` unless given. */
  readonly counted?: string;
  /** Milliseconds after which the first line is written again while the outage lasts: never unless given. */
  readonly repeatMs?: number;
}

/** Logs when something stops working and when it works again: not once per request. */
export interface Outage {
  /** Whether the last thing reported is a failure. */
  readonly isOn: boolean;
  /** A failure. `cause` is an error or a text; `times` is how many things failed with it. */
  failed(cause: unknown, fields?: JsonObject, times?: number): void;
  /** It works again; writes nothing when there was no outage. The line has the count and `forMs`. */
  over(fields?: JsonObject): void;
}

/** Makes the log of one thing that can be away. `now` is in milliseconds. */
export function createOutageLog({ log, now }: { readonly log: Log; now(): number }, lines: OutageLines): Outage {
  const { began, over, level = 'warn', overLevel = 'info', fields: always, counted = 'failures', repeatMs } = lines;
  let count = 0;
  let sinceMs: number | undefined;
  let writtenMs = 0;
  return {
    get isOn() {
      return sinceMs !== undefined;
    },
    failed(cause, fields, times = 1) {
      count += times;
      const isFirst = sinceMs === undefined;
      if (!isFirst && (repeatMs === undefined || now() - writtenMs < repeatMs)) return;
      writtenMs = now();
      sinceMs ??= writtenMs;
      log[level](began, {
        ...always,
        ...fields,
        cause: explainCause(cause),
        ...(isFirst ? {} : { [counted]: count, forMs: writtenMs - sinceMs }),
      });
    },
    over(fields) {
      if (sinceMs === undefined) return;
      log[overLevel](over, { ...always, ...fields, [counted]: count, forMs: now() - sinceMs });
      sinceMs = undefined;
      count = 0;
    },
  };
}
