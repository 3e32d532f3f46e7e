import type { RawJson } from '../../../contract/json.ts';
import { eventFrame, primingFrame } from '../../../mcp/event-stream.ts';
import type { Heartbeat, HeartbeatListener } from '../../../timing/shared-timers.ts';
import { type EventWriter, MUST, type Urgency } from '../../http/event-writer.ts';

/** What a stream needs from its session and endpoint. */
export interface StreamParts {
  /** Events and bytes stored for `Last-Event-ID`. */
  readonly replayEvents: number;
  readonly replayBytes: number;
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
  #bytes = 0;
  #lastSeq = 0;
  #sentSeq = 0;
  #writer: EventWriter | undefined;
  /** The last message was pushed: a resumption gets the rest and the end. */
  isComplete = false;

  constructor(id: string, parts: StreamParts) {
    this.id = id;
    this.#parts = parts;
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
    return this.#store(urgency, parts).length <= this.#parts.replayBytes;
  }

  /**
   * Sends the last message and ends the connection. A message too large to store is replaced by `tooLarge` for a
   * resumption.
   */
  complete(parts: readonly RawJson[], tooLarge: () => RawJson): void {
    this.isComplete = true;
    const isKept = this.push(MUST, parts) && this.#events.at(-1)?.seq === this.#lastSeq;
    if (!isKept) this.#keep({ seq: this.#lastSeq, urgency: MUST, frame: this.#frame(this.#lastSeq, [tooLarge()]) });
    this.end();
  }

  /** Ends the connection; the stream can still be resumed. */
  end(): void {
    this.#writer?.end();
    this.#release();
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

  #store(urgency: Urgency, parts: readonly RawJson[]): Buffer {
    const seq = ++this.#lastSeq;
    const frame = this.#frame(seq, parts);
    if (frame.length <= this.#parts.replayBytes) this.#keep({ seq, urgency, frame });
    return frame;
  }

  #keep(event: StoredEvent): void {
    this.#events.push(event);
    this.#bytes += event.frame.length;
    while (this.#events.length > this.#parts.replayEvents || this.#bytes > this.#parts.replayBytes) {
      if (!this.#evict()) return;
    }
  }

  /** Removes the oldest event that a call does not need, else the oldest one; the newest is kept. */
  #evict(): boolean {
    if (this.#events.length <= 1) return false;
    const spare = this.#events.findIndex(({ urgency }) => !('must' in urgency));
    const at = spare === -1 || spare === this.#events.length - 1 ? 0 : spare;
    this.#remove(at);
    return true;
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
    this.#bytes -= removed?.frame.length ?? 0;
  }
}

const RETRY_MS = 1000; // how long a client waits before it reconnects
