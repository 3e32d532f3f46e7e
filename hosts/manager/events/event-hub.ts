import type { ManagementEvent, PublishEvent } from '@toolmgr/plugins/kit/operations';

/** An event with its number. */
export interface NumberedEvent {
  /** Counts from 1 in each process. */
  readonly id: number;
  readonly event: ManagementEvent;
}

/** A reader that got more events than it took. */
export const TOO_SLOW = Symbol('too slow');

/** Sends events to readers and keeps the last ones for readers that connect again. */
export interface EventHub {
  readonly publish: PublishEvent;
  /**
   * Events after `lastId`, then each new one; `undefined` when too many readers are connected. `missed` when events after
   * `lastId` are no longer kept, or the id is from another process. The iteration ends with the signal and with `close`, and
   * after {@link TOO_SLOW}.
   */
  subscribe(lastId: string | undefined, signal: AbortSignal): Subscription | undefined;
  /** Identifies this process in event ids. */
  readonly epoch: string;
  readonly readers: number;
  /** Ends all readers. */
  close(): void;
}

/** One reader. */
export interface Subscription {
  readonly missed: boolean;
  /** The next events; an empty list after `ms` without any. */
  next(ms: number): Promise<readonly NumberedEvent[] | typeof TOO_SLOW | undefined>;
  end(): void;
}

/** Bounds of {@link createEventHub}. */
export const EVENT_BOUNDS = { kept: 1_000, waiting: 1_000, readers: 256 } as const;

/** Creates a hub. `epoch` makes ids of this process differ from those of an earlier one. */
export function createEventHub(epoch: string, bounds: typeof EVENT_BOUNDS = EVENT_BOUNDS): EventHub {
  const kept: NumberedEvent[] = [];
  const readers = new Set<Reader>();
  let count = 0;
  let isClosed = false;
  return {
    epoch,
    publish(event) {
      const one = { id: ++count, event };
      kept.push(one);
      if (kept.length > bounds.kept) kept.shift();
      for (const reader of readers) reader.take(one);
    },
    subscribe(lastId, signal) {
      if (isClosed || readers.size >= bounds.readers) return undefined;
      const after = lastId === undefined ? count : idAfter(lastId, epoch);
      const from = after === undefined || after > count ? count : after;
      const missed = lastId !== undefined && (after === undefined || after > count || after < count - kept.length);
      const reader = createReader(
        kept.filter(({ id }) => id > from),
        bounds.waiting,
        () => readers.delete(reader),
      );
      readers.add(reader);
      if (signal.aborted) reader.end();
      else signal.addEventListener('abort', () => reader.end(), { once: true });
      return { missed, next: reader.next, end: reader.end };
    },
    get readers() {
      return readers.size;
    },
    close() {
      isClosed = true;
      for (const reader of [...readers]) reader.end();
    },
  };
}

/** The number in `EPOCH-NUMBER`; `undefined` for an id of another process. */
function idAfter(lastId: string, epoch: string): number | undefined {
  const [, given, number] = /^(\w{1,64})-(\d{1,15})$/.exec(lastId) ?? [];
  return given === epoch ? Number(number) : undefined;
}

interface Reader extends Omit<Subscription, 'missed'> {
  take(event: NumberedEvent): void;
}

function createReader(first: readonly NumberedEvent[], limit: number, onEnd: () => void): Reader {
  let waiting = [...first];
  let isEnded = false;
  let isTooSlow = false;
  let wake: (() => void) | undefined;
  const end = (): void => {
    isEnded = true;
    onEnd();
    wake?.();
  };
  return {
    end,
    take(event) {
      waiting.push(event);
      if (waiting.length > limit) {
        isTooSlow = true;
        end();
      }
      wake?.();
    },
    async next(ms) {
      if (waiting.length === 0 && !isEnded) await woken(ms, (resume) => (wake = resume));
      wake = undefined;
      if (isTooSlow) return TOO_SLOW;
      if (isEnded) return undefined;
      const ready = waiting;
      waiting = [];
      return ready;
    },
  };
}

function woken(ms: number, register: (resume: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    register(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
