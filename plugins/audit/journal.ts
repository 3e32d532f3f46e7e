import { type Core, createOutageLog, explainCause, throttledLine, within } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type AuditLines, createAuditLines } from './line.ts';
import { type Batch, createLinePages } from './line-pages.ts';
import type { Sink } from './sink.ts';

/** Bounds of a journal; a test makes them small. */
export interface JournalBounds {
  /** Events that wait for the sink; over it the newest are counted and dropped, so a stuck disk never fills the memory. */
  readonly queueEvents: number;
  /** The same in bytes of captured data and names. */
  readonly queueBytes: number;
  /** Until a sink that failed is tried again. */
  readonly retryMs: number;
  /** A sink that is stuck at the end does not keep the process longer. */
  readonly stopMs: number;
}

const BOUNDS: JournalBounds = { queueEvents: 20_000, queueBytes: 67_108_864, retryMs: 1_000, stopMs: 5_000 };
/** Lines made in one go before the event loop gets its turn. */
const BATCH_LINES = 250;
/** Lines made ahead of a slow sink; what comes then waits as events, within their bounds. */
const AHEAD_BYTES = 1_048_576;
/** A line is written at most this long after its event, unless the sink is slow. */
const GATHER_MS = 50;
/** Lines about a sink that cannot be written. */
const OUTAGE = {
  began: 'audit lines cannot be written',
  over: 'audit lines are written again',
  level: 'error',
  repeatMs: 60_000,
} as const;
const LOUD = { level: 'error' } as const;
const DROPPED = { counted: 'dropped' } as const;

/** Takes events at once, makes their lines in the next turn of the event loop, writes them in batches later. */
export interface Journal {
  add(event: AuditEvent): void;
  start(sink: Sink, config: AuditConfig): void;
  /** Writes what waits and closes the sink. */
  stop(): Promise<void>;
}

/** Makes a journal without a sink; events wait until it is started. */
export function createJournal({ log, now }: Pick<Core, 'log' | 'now'>, bounds: Partial<JournalBounds> = {}): Journal {
  const { queueEvents, queueBytes, retryMs, stopMs } = { ...BOUNDS, ...bounds };
  let queue: AuditEvent[] = [];
  let queued = 0;
  let dropped = 0;
  let making: NodeJS.Immediate | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let open: { readonly sink: Sink; readonly lines: AuditLines } | undefined;
  const pages = createLinePages();
  /** What is being written: the page, and what is left of it. */
  let unwritten: { readonly page: Batch; rest: Buffer } | undefined;
  const outage = createOutageLog({ log, now }, OUTAGE);
  const badEvents = throttledLine({ log, now }, 'audit events cannot be turned into lines', LOUD);
  const slowSink = throttledLine({ log, now }, 'audit events were dropped because the sink is slow', DROPPED);
  let isStopping = false;

  const wake = (afterMs: number): void => {
    if (gathering !== undefined || writing !== undefined || open === undefined || isStopping) return;
    gathering = setTimeout(flush, afterMs).unref();
  };

  const flush = (): Promise<void> => {
    clearTimeout(gathering);
    gathering = undefined;
    writing ??= writeAll().then((isDone) => {
      writing = undefined;
      if (!isDone) wake(retryMs);
      else if (waiting() + dropped > 0) wake(GATHER_MS);
    });
    return writing;
  };

  /** Whether everything was written; what was not is kept for the next try, byte by byte, so that no line is torn. */
  const writeAll = async (): Promise<boolean> => {
    if (open === undefined) return true;
    const { sink, lines } = open;
    // What comes meanwhile waits for its own turn, or a busy gateway would write a few lines at a time without end.
    let due = waiting() + dropped;
    while (due > 0 || isStopping) {
      unwritten ??= nextBatch(lines);
      if (unwritten === undefined) return true;
      due -= Math.max(unwritten.page.events, 1);
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
    if (lost > 0) slowSink.add({}, lost);
    const page = pages.take();
    return page && { page, rest: page.bytes };
  };

  /** Makes lines of the oldest events, as many as may be made in one go. */
  const makeLines = (lines: AuditLines): void => {
    const batch = queue.length > BATCH_LINES ? queue.slice(0, BATCH_LINES) : queue;
    queue = queue.length > BATCH_LINES ? queue.slice(BATCH_LINES) : [];
    for (const event of batch) {
      queued -= weightOf(event);
      const line = lineOf(event, lines);
      if (line !== undefined) pages.add(line);
    }
  };

  /** In the turn after their calls: events that wait longer outlive collections. */
  const makeSoon = (): void => {
    if (making !== undefined || open === undefined || pages.bytes >= AHEAD_BYTES) return;
    making = setImmediate(() => {
      making = undefined;
      if (open === undefined) return;
      makeLines(open.lines);
      if (queue.length > 0) makeSoon();
    });
  };

  const waiting = (): number => queue.length + pages.events + (unwritten?.page.events ?? 0);

  /** One event that cannot be written must not hold up the others. */
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
      makeSoon();
      wake(GATHER_MS);
    },
    start(sink, config) {
      open = { sink, lines: createAuditLines(config) };
      wake(GATHER_MS);
    },
    async stop() {
      if (open === undefined) return;
      isStopping = true;
      const { sink } = open;
      await within(stopMs, undefined, flush().then(flush));
      const left = waiting() + dropped;
      slowSink.flush();
      badEvents.flush();
      if (left > 0) log.error('the gateway stops with audit events that could not be written', { lost: left });
      open = undefined;
      await within(
        stopMs,
        undefined,
        sink
          .close()
          .catch((cause: unknown) => log.warn('the audit file was not closed well', { cause: explainCause(cause) })),
      );
    },
  };
}

/** What an event keeps in memory besides itself: copies, and texts that a client may make long. */
function weightOf({ request, response, target, errorMessage }: AuditEvent): number {
  const { name } = target;
  return (
    (request?.bytes?.length ?? 0) +
    (response?.bytes?.length ?? 0) +
    (typeof name === 'string' ? name.length : 0) +
    (errorMessage?.length ?? 0)
  );
}
