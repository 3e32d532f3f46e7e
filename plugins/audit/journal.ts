import { type Core, createOutageLog, explainCause, throttledLine, within } from '@toolmgr/core';
import { type AuditLines, createAuditLines } from './audit-line.ts';
import type { AuditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type Batch, createLinePages } from './line-pages.ts';
import type { Sink } from './sinks/file.ts';

/** Bounds of a journal; tests use smaller ones. */
export interface JournalBounds {
  /** Maximum queued events; further ones are dropped and counted, so that a blocked disk does not fill the memory. */
  readonly queueEvents: number;
  /** Maximum bytes of captured data and names in the queue. */
  readonly queueBytes: number;
  /** Delay before a failed write is retried. */
  readonly retryMs: number;
  /** Maximum time for writing the queue at a stop. */
  readonly stopMs: number;
}

const BOUNDS: JournalBounds = { queueEvents: 20_000, queueBytes: 67_108_864, retryMs: 1_000, stopMs: 5_000 };
/** Lines that are built before the event loop continues. */
const BATCH_LINES = 250;
/** Bytes of lines that are built ahead of a slow sink; further events stay in the queue. */
const MAX_BYTES_AHEAD = 1_048_576;
/** Maximum delay of a line after its event, unless the sink is slow. */
const FLUSH_DELAY_MS = 50;
/** Log messages about a failing sink. */
const OUTAGE = {
  began: 'audit events cannot be written',
  over: 'audit events are written again',
  level: 'error',
  repeatMs: 60_000,
} as const;
const AT_ERROR = { level: 'error' } as const;
const DROPPED = { counted: 'dropped' } as const;

/** Queues events, builds their lines in the next iteration of the event loop, and writes them in batches. */
export interface Journal {
  add(event: AuditEvent): void;
  start(sink: Sink, config: AuditConfig): void;
  /** The last write failed, or the queue is full: further events may be lost. */
  readonly isFailing: boolean;
  /** Writes the queue and closes the sink. */
  stop(): Promise<void>;
}

/** Creates a journal; events are queued until it is started with a sink. `name`: that of a remote sink, for the log. */
export function createJournal(
  { log, now }: Pick<Core, 'log' | 'now'>,
  bounds: Partial<JournalBounds> = {},
  name?: string,
): Journal {
  const named = name === undefined ? {} : { sink: name };
  const { queueEvents, queueBytes, retryMs, stopMs } = { ...BOUNDS, ...bounds };
  let queue: AuditEvent[] = [];
  let queued = 0;
  let dropped = 0;
  let lineTimer: NodeJS.Immediate | undefined;
  let flushTimer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let open: { readonly sink: Sink; readonly lines: AuditLines } | undefined;
  const pages = createLinePages();
  /** The page that is being written, and its remaining bytes. */
  let unwritten: { readonly page: Batch; rest: Buffer } | undefined;
  const outage = createOutageLog({ log, now }, { ...OUTAGE, fields: named });
  const badEvents = throttledLine({ log, now }, 'audit events cannot be encoded', AT_ERROR);
  const slowSink = throttledLine({ log, now }, 'audit events were dropped because the sink is slow', DROPPED);
  let isStopping = false;

  const scheduleFlush = (afterMs: number): void => {
    if (flushTimer !== undefined || writing !== undefined || open === undefined || isStopping) return;
    flushTimer = setTimeout(flush, afterMs).unref();
  };

  const flush = (): Promise<void> => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    writing ??= writeAll().then((isDone) => {
      writing = undefined;
      if (!isDone) scheduleFlush(retryMs);
      else if (waiting() + dropped > 0) scheduleFlush(FLUSH_DELAY_MS);
    });
    return writing;
  };

  /** Returns whether everything was written. Remaining bytes are kept for the next try, so that no line is incomplete. */
  const writeAll = async (): Promise<boolean> => {
    if (open === undefined) return true;
    const { sink, lines } = open;
    // Writes only events that are queued now: a busy gateway would otherwise write many small batches without end.
    let remaining = waiting() + dropped;
    while (remaining > 0 || isStopping) {
      unwritten ??= nextBatch(lines);
      if (unwritten === undefined) return true;
      remaining -= Math.max(unwritten.page.events, 1);
      try {
        while (unwritten.rest.length > 0) unwritten.rest = unwritten.rest.subarray(await sink.write(unwritten.rest));
        pages.done(unwritten.page);
        unwritten = undefined;
        outage.over();
      } catch (cause) {
        outage.failed(cause, { waiting: waiting() });
        return false;
      }
    }
    return true;
  };

  const nextBatch = (lines: AuditLines): typeof unwritten => {
    if (pages.events === 0) makeLines(lines);
    const lost = dropped;
    dropped = 0;
    if (lost > 0) pages.add(lines.dropped(lost, now()), 0);
    if (lost > 0) slowSink.add(named, lost);
    const page = pages.take();
    return page && { page, rest: page.bytes };
  };

  /** Builds lines of the oldest events, at most BATCH_LINES. */
  const makeLines = (lines: AuditLines): void => {
    const batch = queue.length > BATCH_LINES ? queue.slice(0, BATCH_LINES) : queue;
    queue = queue.length > BATCH_LINES ? queue.slice(BATCH_LINES) : [];
    for (const event of batch) {
      queued -= weightOf(event);
      const line = lineOf(event, lines);
      if (line !== undefined) pages.add(line);
    }
  };

  /** Builds lines soon after the calls, before garbage collection moves the events to the old generation. */
  const scheduleLines = (): void => {
    if (lineTimer !== undefined || open === undefined || pages.bytes >= MAX_BYTES_AHEAD) return;
    lineTimer = setImmediate(() => {
      lineTimer = undefined;
      if (open === undefined) return;
      makeLines(open.lines);
      if (queue.length > 0) scheduleLines();
    });
  };

  const waiting = (): number => queue.length + pages.events + (unwritten?.page.events ?? 0);

  /** An event that cannot be encoded must not block the others. */
  const lineOf = (event: AuditEvent, lines: AuditLines): string | undefined => {
    try {
      return lines.of(event);
    } catch (cause) {
      dropped++;
      badEvents.add({ type: event.type, cause: explainCause(cause) });
      return undefined;
    }
  };

  return {
    add(event) {
      const weight = weightOf(event);
      if (waiting() >= queueEvents || queued + weight > queueBytes) dropped++;
      else {
        queue.push(event);
        queued += weight;
      }
      scheduleLines();
      scheduleFlush(FLUSH_DELAY_MS);
    },
    start(sink, config) {
      open = { sink, lines: createAuditLines(config) };
      scheduleFlush(FLUSH_DELAY_MS);
    },
    get isFailing() {
      return outage.isOn || waiting() >= queueEvents;
    },
    async stop() {
      if (open === undefined) return;
      isStopping = true;
      const { sink } = open;
      await within(stopMs, undefined, flush().then(flush));
      const left = waiting() + dropped;
      slowSink.flush();
      badEvents.flush();
      if (left > 0) log.error('the gateway stops with unwritten audit events', { ...named, lost: left });
      open = undefined;
      await within(
        stopMs,
        undefined,
        sink
          .close()
          .catch((cause: unknown) => log.warn('the audit file could not be closed', { cause: explainCause(cause) })),
      );
    },
  };
}

/** Bytes that an event keeps in memory: copies, and texts from clients. */
function weightOf({ request, response, target, errorMessage }: AuditEvent): number {
  const { name } = target;
  return (
    (request?.bytes?.length ?? 0) +
    (response?.bytes?.length ?? 0) +
    (typeof name === 'string' ? name.length : 0) +
    (errorMessage?.length ?? 0)
  );
}
