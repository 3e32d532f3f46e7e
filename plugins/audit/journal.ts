import { type Core, explainCause } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';
import { auditLine, droppedLine } from './line.ts';
import type { Sink } from './sink.ts';
import type { AuditEvent } from './snapshot.ts';

/** Events that wait for the sink; over it the newest are counted and dropped, so a stuck disk never fills the memory. */
const QUEUE_EVENTS = 20_000;
/** Lines made in one go before the event loop gets its turn. */
const BATCH_LINES = 200;
/** A line is written at most this long after its call, unless the sink is slow. */
const GATHER_MS = 20;
/** A sink that is stuck at the end does not keep the process. */
const STOP_MS = 5_000;

/** Takes events at once, writes their lines in batches later. */
export interface Journal {
  add(event: AuditEvent): void;
  start(sink: Sink, config: AuditConfig): void;
  /** Writes what waits and closes the sink. */
  stop(): Promise<void>;
}

/** Makes a journal without a sink; events wait until it is started. */
export function createJournal({ log, now }: Pick<Core, 'log' | 'now'>, queueEvents = QUEUE_EVENTS): Journal {
  let queue: AuditEvent[] = [];
  let dropped = 0;
  let gathering: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let open: { readonly sink: Sink; readonly config: AuditConfig } | undefined;

  const wake = (): void => {
    if (gathering !== undefined || writing !== undefined || open === undefined) return;
    gathering = setTimeout(flush, GATHER_MS).unref();
  };

  const flush = (): Promise<void> => {
    clearTimeout(gathering);
    gathering = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (queue.length > 0) wake();
    });
    return writing;
  };

  const writeAll = async (): Promise<void> => {
    if (open === undefined) return;
    const { sink, config } = open;
    while (queue.length > 0 || dropped > 0) {
      const batch = queue.length > BATCH_LINES ? queue.slice(0, BATCH_LINES) : queue;
      queue = queue.length > BATCH_LINES ? queue.slice(BATCH_LINES) : [];
      const lost = dropped;
      dropped = 0;
      let text = '';
      for (const event of batch) text += auditLine(event, config);
      if (lost > 0) text += droppedLine(lost, now(), config.component);
      try {
        await sink.write(text);
        if (lost > 0) log.warn('audit events were dropped because the sink is slow', { dropped: lost });
      } catch (cause) {
        log.error('audit lines could not be written', { lines: batch.length, cause: explainCause(cause) });
      }
    }
  };

  return {
    add(event) {
      if (queue.length >= queueEvents) dropped++;
      else queue.push(event);
      wake();
    },
    start(sink, config) {
      open = { sink, config };
      wake();
    },
    async stop() {
      if (open === undefined) return;
      await withinTime(flush().then(flush), STOP_MS);
      await withinTime(open.sink.close(), STOP_MS);
      open = undefined;
    },
  };
}

async function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs).unref();
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
