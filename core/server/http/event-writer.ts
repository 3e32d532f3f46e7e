import type { ResponseStream } from '../../contract/inbound.ts';
import { KEEP_ALIVE } from '../../mcp/event-stream.ts';

/** What happens to an event when the reader is slow: it is sent, replaced by a newer one with its key, or dropped. */
export type Urgency = { readonly must: true } | { readonly latest: string } | { readonly droppable: true };

export const MUST: Urgency = { must: true };
export const DROPPABLE: Urgency = { droppable: true };

/**
 * The urgency of a notification of a call: only the latest progress is sent, log messages may be dropped, others not.
 */
export function urgencyOf(method: string): Urgency {
  return URGENCIES.get(method) ?? MUST;
}

const URGENCIES = new Map<string, Urgency>([
  ['notifications/progress', { latest: 'progress' }],
  ['notifications/message', DROPPABLE],
]);

/**
 * Writes events to one connection within a limit of unsent bytes.
 *
 * While the reader is slow, log messages are dropped, and only the latest progress or change of each kind waits. All
 * other events are written, because the call cannot end without them.
 */
export class EventWriter {
  readonly #stream: ResponseStream;
  readonly #bufferBytes: number;
  readonly #waiting = new Map<string, () => Buffer>();
  #isOpen = true;
  /** Number of events dropped because the reader was slow. */
  dropped = 0;

  constructor(stream: ResponseStream, bufferBytes: number) {
    this.#stream = stream;
    this.#bufferBytes = bufferBytes;
    stream.onDrain(() => this.#flush());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isBehind(): boolean {
    return this.#stream.pendingBytes > this.#bufferBytes;
  }

  /** `frame` is called when the event is written: a replaced event gets no sequence number. */
  write(urgency: Urgency, frame: () => Buffer): void {
    if (!this.#isOpen) return;
    if ('must' in urgency) {
      this.#flush(); // waiting events precede the last one
      this.#stream.write(frame());
      return;
    }
    if (!this.isBehind) {
      this.#stream.write(frame());
      return;
    }
    if ('droppable' in urgency) {
      this.dropped++;
      return;
    }
    if (this.#waiting.delete(urgency.latest)) this.dropped++;
    this.#waiting.set(urgency.latest, frame);
  }

  keepAlive(): void {
    if (this.#isOpen && !this.isBehind) this.#stream.write(KEEP_ALIVE);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#flush();
    this.#isOpen = false;
    this.#stream.end();
  }

  /**
   * The connection is closed; nothing more is written. Waiting events are still made, to be stored for a resumption.
   */
  close(): void {
    this.#isOpen = false;
    for (const frame of this.#waiting.values()) frame();
    this.#waiting.clear();
  }

  #flush(): void {
    if (!this.#isOpen || this.#waiting.size === 0) return;
    for (const frame of this.#waiting.values()) this.#stream.write(frame());
    this.#waiting.clear();
  }
}
