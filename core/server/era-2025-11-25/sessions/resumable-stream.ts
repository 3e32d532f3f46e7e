import type { RawJson } from '../../../contract/json.ts';
import { byteLength } from '../../../json/byte-pieces.ts';
import type { ByteBudget, HeldBytes } from '../../../mcp/byte-budget.ts';
import type { Heartbeat, HeartbeatListener } from '../../../timing/shared-timers.ts';
import { type MessageWriter, MUST, type Urgency } from '../../message-writer.ts';
import type { SentMessage } from '../../replies.ts';

/** What a stream needs from its session and endpoint. */
export interface StreamParts {
  /** Messages and bytes stored for `Last-Event-ID`. */
  readonly replayEvents: number;
  readonly replayBytes: number;
  /** Counts what all streams store. */
  readonly stored: ByteBudget;
  /** The client accepts a first event without a message (2025-11-25). */
  readonly isPrimed: boolean;
  readonly heartbeat: Heartbeat;
}

interface StoredMessage {
  readonly seq: number;
  readonly urgency: Urgency;
  readonly message: Buffer;
}

/**
 * The messages of one stream of a session, independent of its connection.
 *
 * Messages get the event id `{stream}-{seq}` and are stored within limits, so that a client that lost the connection gets those
 * that it missed, and only those of this stream (MCP 2025-11-25 streamable HTTP, resumability). Without a
 * connection messages wait.
 */
export class ResumableStream implements HeartbeatListener {
  readonly id: string;
  readonly #parts: StreamParts;
  readonly #kept: StoredMessage[] = [];
  readonly #stored: HeldBytes;
  #lastSeq = 0;
  #sentSeq = 0;
  #writer: MessageWriter | undefined;
  /** The last message was pushed: a resumption gets the rest and the end. */
  isComplete = false;

  /** `share` names whose bytes are stored. */
  constructor(id: string, parts: StreamParts, share = '') {
    this.id = id;
    this.#parts = parts;
    this.#stored = parts.stored.holder(share);
  }

  get isConnected(): boolean {
    return this.#writer !== undefined;
  }

  /**
   * Connects a client and first writes what it has not received. An older connection is ended.
   *
   * Shape: `after` is the sequence number of the last received event; without it only unwritten events follow.
   */
  attach(writer: MessageWriter, after: number = this.#sentSeq): void {
    this.#release();
    this.#writer = writer;
    this.#parts.heartbeat.streams.add(this);
    if (this.#parts.isPrimed) writer.prime(this.#eventId(after));
    for (const { seq, message } of this.#kept) {
      if (seq > after) writer.write(MUST, () => ({ parts: [message], eventId: this.#eventId(seq) }));
    }
    this.#sentSeq = this.#lastSeq;
    if (this.isComplete) this.end();
  }

  /** The connection of `writer` is lost; the stream continues without one. */
  detach(writer: MessageWriter): void {
    if (this.#writer !== writer) return;
    writer.close();
    this.#release();
  }

  /** Sends a message, or stores it for a resumption. `false` when it is too large for both. */
  push(urgency: Urgency, parts: readonly RawJson[]): boolean {
    const writer = this.#writer;
    if (writer !== undefined) {
      writer.write(urgency, () => {
        const message = this.#store(urgency, parts);
        if (writer.isOpen) this.#sentSeq = this.#lastSeq;
        return message;
      });
      return true;
    }
    if ('latest' in urgency) this.#forgetUnsent(urgency.latest);
    this.#store(urgency, parts);
    return this.#isNewestStored;
  }

  /**
   * Sends the last message and ends the connection. A message too large to store is replaced by `tooLarge` for a
   * resumption.
   */
  complete(parts: readonly RawJson[], tooLarge: () => RawJson): void {
    this.isComplete = true;
    this.push(MUST, parts);
    if (!this.#isNewestStored && this.#canResume) this.#add({ seq: this.#lastSeq, urgency: MUST, message: tooLarge() });
    this.end();
  }

  /** Ends the connection; the stream can still be resumed. */
  end(): void {
    this.#writer?.end();
    this.#release();
  }

  /** Nothing is resumed any more. */
  forget(): void {
    this.end();
    this.#kept.length = 0;
    this.#stored.release();
  }

  beat(): void {
    this.#writer?.keepAlive();
  }

  #release(): void {
    if (this.#writer === undefined) return;
    this.#writer.end();
    this.#writer = undefined;
    this.#parts.heartbeat.streams.delete(this);
  }

  #eventId(seq: number): string {
    return `${this.id}-${seq}`;
  }

  /** Without a connection messages wait for the next one. */
  get #canResume(): boolean {
    return this.#writer?.canResume ?? true;
  }

  get #isNewestStored(): boolean {
    return this.#kept.at(-1)?.seq === this.#lastSeq;
  }

  /** Stores a message in the place of older ones, if there is space. */
  #store(urgency: Urgency, parts: readonly RawJson[]): SentMessage {
    const seq = ++this.#lastSeq;
    if (!this.#canResume) return { parts };
    const eventId = this.#eventId(seq);
    const bytes = byteLength(parts) + EVENT_BYTES;
    if (bytes > this.#parts.replayBytes) return { parts, eventId };
    while (this.#kept.length > 0 && !this.#hasPlace(bytes)) this.#evict();
    if (!this.#hasPlace(bytes) || !this.#stored.budget.hasSpace(this.#stored, bytes)) return { parts, eventId };
    const message = Buffer.concat(parts); // a copy: the parts may be pieces of something larger
    this.#add({ seq, urgency, message });
    return { parts: [message], eventId };
  }

  #hasPlace(bytes: number): boolean {
    const { replayEvents, replayBytes } = this.#parts;
    const mayFollow = this.#kept.length === 0 || this.#kept.length < replayEvents;
    return mayFollow && this.#stored.bytes + bytes <= replayBytes;
  }

  #add(kept: StoredMessage): void {
    this.#kept.push(kept);
    this.#stored.add(kept.message.length + EVENT_BYTES);
  }

  /** Removes the oldest message that a call does not need, else the oldest one. */
  #evict(): void {
    const spare = this.#kept.findIndex(({ urgency }) => !('must' in urgency));
    this.#remove(Math.max(spare, 0));
  }

  /** A newer message of the same kind replaces an unsent one. */
  #forgetUnsent(key: string): void {
    const at = this.#kept.findIndex(
      ({ seq, urgency }) => seq > this.#sentSeq && 'latest' in urgency && urgency.latest === key,
    );
    if (at !== -1) this.#remove(at);
  }

  #remove(at: number): void {
    const [removed] = this.#kept.splice(at, 1);
    if (removed !== undefined) this.#stored.add(-(removed.message.length + EVENT_BYTES));
  }
}

const EVENT_BYTES = 64; // what an event has besides its message, so that many small ones count
