import type { MessageStream, SentMessage } from './replies.ts';

/** What happens to a message when the reader is slow: it is sent, replaced by a newer one with its key, or dropped. */
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
 * Writes messages to one connection within a limit of unsent bytes.
 *
 * While the reader is slow, log messages are dropped, and only the latest progress or change of each kind waits. All
 * other messages are written, because the call cannot end without them.
 */
export class MessageWriter {
  readonly #stream: MessageStream;
  readonly #bufferBytes: number;
  readonly #waiting = new Map<string, () => SentMessage>();
  #isOpen = true;

  constructor(stream: MessageStream, bufferBytes: number) {
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

  /** `made` is called when the message is written: a replaced one gets no sequence number. */
  write(urgency: Urgency, made: () => SentMessage): void {
    if (!this.#isOpen) return;
    if ('must' in urgency) {
      this.#flush(); // waiting messages precede the last one
      this.#stream.write(made());
      return;
    }
    if (!this.isBehind) {
      this.#stream.write(made());
      return;
    }
    if ('droppable' in urgency) return;
    this.#waiting.delete(urgency.latest); // the newer one is behind all that wait
    this.#waiting.set(urgency.latest, made);
  }

  /** The client can connect again and name the last event that it got. */
  get canResume(): boolean {
    return this.#stream.prime !== undefined;
  }

  /** See {@link MessageStream.prime}. */
  prime(eventId: string): void {
    this.#stream.prime?.(eventId);
  }

  keepAlive(): void {
    if (this.#isOpen && !this.isBehind) this.#stream.keepAlive();
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#flush();
    this.#isOpen = false;
    this.#stream.end();
  }

  /**
   * The connection is closed; nothing more is written. Waiting messages are still made, to be stored for a resumption.
   */
  close(): void {
    this.#isOpen = false;
    for (const made of this.#waiting.values()) made();
    this.#waiting.clear();
  }

  #flush(): void {
    if (!this.#isOpen || this.#waiting.size === 0) return;
    for (const made of this.#waiting.values()) this.#stream.write(made());
    this.#waiting.clear();
  }
}
