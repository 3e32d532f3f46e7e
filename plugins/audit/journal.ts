import { type Core, explainCause, type JsonObject } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type AuditLines, createAuditLines } from './line.ts';
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
/** A line is written at most this long after its event, unless the sink is slow. */
const GATHER_MS = 50;
/** A sink that stays broken is told of in the log this often. */
const REPORT_MS = 60_000;

/** Takes events at once, writes their lines in batches later. */
export interface Journal {
  add(event: AuditEvent): void;
  start(sink: Sink, config: AuditConfig): void;
  /** Writes what waits and closes the sink. */
  stop(): Promise<void>;
}

/** Bytes of lines that are not written yet, and how many lines they are. */
interface Batch {
  readonly bytes: Buffer;
  readonly lines: number;
}

/** Makes a journal without a sink; events wait until it is started. */
export function createJournal({ log, now }: Pick<Core, 'log' | 'now'>, bounds: Partial<JournalBounds> = {}): Journal {
  const { queueEvents, queueBytes, retryMs, stopMs } = { ...BOUNDS, ...bounds };
  let queue: AuditEvent[] = [];
  let queued = 0;
  let dropped = 0;
  let gathering: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let open: { readonly sink: Sink; readonly lines: AuditLines } | undefined;
  let unwritten: Batch | undefined;
  const tell = createTelling(log, now);
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
      else if (queue.length > 0) wake(GATHER_MS);
    });
    return writing;
  };

  /** Whether everything was written; what was not is kept for the next try, byte by byte, so that no line is torn. */
  const writeAll = async (): Promise<boolean> => {
    if (open === undefined) return true;
    const { sink, lines } = open;
    for (;;) {
      unwritten ??= nextBatch(lines);
      if (unwritten === undefined) return true;
      try {
        while (unwritten.bytes.length > 0) {
          const written = await sink.write(unwritten.bytes);
          unwritten = { ...unwritten, bytes: unwritten.bytes.subarray(written) };
        }
        unwritten = undefined;
      } catch (cause) {
        tell.broken({
          waiting: queue.length + (unwritten?.lines ?? 0),
          cause: explainCause(cause),
        });
        return false;
      }
    }
  };

  const nextBatch = (lines: AuditLines): Batch | undefined => {
    if (queue.length === 0 && dropped === 0) return undefined;
    const batch = queue.length > BATCH_LINES ? queue.slice(0, BATCH_LINES) : queue;
    queue = queue.length > BATCH_LINES ? queue.slice(BATCH_LINES) : [];
    let text = '';
    for (const event of batch) {
      queued -= weightOf(event);
      text += lineOf(event, lines);
    }
    const lost = dropped;
    dropped = 0;
    if (lost > 0) text += lines.dropped(lost, now());
    tell.dropped(lost);
    return { bytes: Buffer.from(text), lines: batch.length };
  };

  /** One event that cannot be written must not hold up the others. */
  const lineOf = (event: AuditEvent, lines: AuditLines): string => {
    try {
      return lines.of(event);
    } catch (cause) {
      dropped++;
      tell.broken({ type: event.type, cause: explainCause(cause) });
      return '';
    }
  };

  return {
    add(event) {
      const weight = weightOf(event);
      if (queue.length >= queueEvents || queued + weight > queueBytes) dropped++;
      else {
        queue.push(event);
        queued += weight;
      }
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
      await withinTime(flush().then(flush), stopMs);
      const left = queue.length + (unwritten?.lines ?? 0) + dropped;
      tell.end();
      if (left > 0) log.error('the gateway stops with audit events that could not be written', { lost: left });
      open = undefined;
      await withinTime(
        sink
          .close()
          .catch((cause: unknown) => log.warn('the audit file was not closed well', { cause: explainCause(cause) })),
        stopMs,
      );
    },
  };
}

/** Says what goes wrong in the log, at once and then at most once a minute: a broken disk must not fill another. */
function createTelling(log: Core['log'], now: Core['now']) {
  let droppedUntold = 0;
  let droppedMs = Number.NEGATIVE_INFINITY;
  let brokenMs = Number.NEGATIVE_INFINITY;
  const sayDropped = (): void => {
    log.warn('audit events were dropped because the sink is slow', { dropped: droppedUntold });
    droppedUntold = 0;
    droppedMs = now();
  };
  return {
    dropped(events: number): void {
      droppedUntold += events;
      if (droppedUntold > 0 && now() - droppedMs >= REPORT_MS) sayDropped();
    },
    broken(fields: JsonObject): void {
      if (now() - brokenMs < REPORT_MS) return;
      brokenMs = now();
      log.error('audit lines cannot be written', fields);
    },
    end(): void {
      if (droppedUntold > 0) sayDropped();
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

async function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs).unref();
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
