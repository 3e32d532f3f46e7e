import type { ResponseStream } from '../../contract/inbound.ts';
import { KEEP_ALIVE } from '../../mcp/event-stream.ts';

/** What may happen to an event when the reader is slow: nothing, replaced by a newer one of its key, or dropped. */
export type Urgency = { readonly must: true } | { readonly latest: string } | { readonly droppable: true };

export const MUST: Urgency = { must: true };
export const DROPPABLE: Urgency = { droppable: true };

/** How urgent a notification of a call is: of progress the latest counts, log messages may be lost, the rest may not. */
export function urgencyOf(method: string): Urgency {
  return URGENCIES.get(method) ?? MUST;
}

const URGENCIES = new Map<string, Urgency>([
  ['notifications/progress', { latest: 'progress' }],
  ['notifications/message', DROPPABLE],
]);

/**
 * Writes events to one connection within a bound of unsent bytes.
 *
 * While the reader is behind: log messages are dropped, of each progress or change only the latest waits, everything
 * else is written, since the call cannot end without it.
 */
export class EventWriter {
  readonly #stream: ResponseStream;
  readonly #bufferBytes: number;
  readonly #waiting = new Map<string, () => Buffer>();
  #isOpen = true;
  /** Events that were dropped because the reader was slow. */
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

  /** `frame` is made when it is written: a replaced event takes no sequence number. */
  write(urgency: Urgency, frame: () => Buffer): void {
    if (!this.#isOpen) return;
    if ('must' in urgency) {
      this.#flush(); // what waits comes before what ends the stream
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

  /** The connection has gone; nothing is written any more. What waited is made all the same, for those who keep it. */
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
