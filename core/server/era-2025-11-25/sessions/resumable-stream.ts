import type { RawJson } from '../../../contract/json.ts';
import type { ByteBudget, HeldBytes } from '../../../mcp/byte-budget.ts';
import { eventFrame, primingFrame } from '../../../mcp/event-stream.ts';
import type { Heartbeat, HeartbeatListener } from '../../../timing/shared-timers.ts';
import { type EventWriter, MUST, type Urgency } from '../../http/event-writer.ts';

/** What a stream needs from its session and endpoint. */
export interface StreamParts {
  /** Events and bytes stored for `Last-Event-ID`. */
  readonly replayEvents: number;
  readonly replayBytes: number;
  /** Counts what all streams store. */
  readonly stored: ByteBudget;
  /** The client accepts a first event without a message (2025-11-25). */
  readonly isPrimed: boolean;
  readonly heartbeat: Heartbeat;
}

interface StoredEvent {
  readonly seq: number;
  readonly urgency: Urgency;
  readonly frame: Buffer;
}

/**
 * One event stream of a session, independent of its connection.
 *
 * Events get the id `{stream}-{seq}` and are stored within limits, so that a client that lost the connection gets the
 * events that it missed, and only those of this stream (MCP 2025-11-25 streamable HTTP, resumability). Without a
 * connection events wait.
 */
export class ResumableStream implements HeartbeatListener {
  readonly id: string;
  readonly #parts: StreamParts;
  readonly #events: StoredEvent[] = [];
  readonly #stored: HeldBytes;
  #lastSeq = 0;
  #sentSeq = 0;
  #writer: EventWriter | undefined;
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
  attach(writer: EventWriter, after: number = this.#sentSeq): void {
    this.#release();
    this.#writer = writer;
    this.#parts.heartbeat.streams.add(this);
    if (this.#parts.isPrimed) writer.write(MUST, () => primingFrame(`${this.id}-${after}`, RETRY_MS));
    for (const { seq, frame } of this.#events) if (seq > after) writer.write(MUST, () => frame);
    this.#sentSeq = this.#lastSeq;
    if (this.isComplete) this.end();
  }

  /** The connection of `writer` is lost; the stream continues without one. */
  detach(writer: EventWriter): void {
    if (this.#writer !== writer) return;
    writer.close();
    this.#release();
  }

  /** Sends a message, or stores it for a resumption. `false` when it is too large for both. */
  push(urgency: Urgency, parts: readonly RawJson[]): boolean {
    const writer = this.#writer;
    if (writer !== undefined) {
      writer.write(urgency, () => {
        const frame = this.#store(urgency, parts);
        if (writer.isOpen) this.#sentSeq = this.#lastSeq;
        return frame;
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
    if (!this.#isNewestStored)
      this.#add({ seq: this.#lastSeq, urgency: MUST, frame: this.#frame(this.#lastSeq, [tooLarge()]) });
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
    this.#events.length = 0;
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

  #frame(seq: number, parts: readonly RawJson[]): Buffer {
    return eventFrame(parts, `${this.id}-${seq}`);
  }

  get #isNewestStored(): boolean {
    return this.#events.at(-1)?.seq === this.#lastSeq;
  }

  #store(urgency: Urgency, parts: readonly RawJson[]): Buffer {
    const seq = ++this.#lastSeq;
    const frame = this.#frame(seq, parts);
    if (frame.length <= this.#parts.replayBytes) this.#keep({ seq, urgency, frame });
    return frame;
  }

  /** Stores an event in the place of older ones, if there is space. */
  #keep(event: StoredEvent): void {
    const { length } = event.frame;
    while (this.#events.length > 0 && !this.#hasPlace(length)) this.#evict();
    if (this.#hasPlace(length) && this.#stored.budget.hasSpace(this.#stored, length)) this.#add(event);
  }

  #hasPlace(bytes: number): boolean {
    const { replayEvents, replayBytes } = this.#parts;
    const mayFollow = this.#events.length === 0 || this.#events.length < replayEvents;
    return mayFollow && this.#stored.bytes + bytes <= replayBytes;
  }

  #add(event: StoredEvent): void {
    this.#events.push(event);
    this.#stored.add(event.frame.length);
  }

  /** Removes the oldest event that a call does not need, else the oldest one. */
  #evict(): void {
    const spare = this.#events.findIndex(({ urgency }) => !('must' in urgency));
    this.#remove(Math.max(spare, 0));
  }

  /** A newer message of the same kind replaces an unsent one. */
  #forgetUnsent(key: string): void {
    const at = this.#events.findIndex(
      ({ seq, urgency }) => seq > this.#sentSeq && 'latest' in urgency && urgency.latest === key,
    );
    if (at !== -1) this.#remove(at);
  }

  #remove(at: number): void {
    const [removed] = this.#events.splice(at, 1);
    this.#stored.add(-(removed?.frame.length ?? 0));
  }
}

const RETRY_MS = 1000; // how long a client waits before it reconnects
