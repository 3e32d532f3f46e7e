import { randomUUID } from 'node:crypto';
import type { Caller } from '../../contract/caller.ts';
import type { ResponseStream, StreamChunk } from '../../contract/inbound.ts';
import type { MessageClient } from '../../contract/message-client.ts';
import { eventFrame, KEEP_ALIVE } from '../../mcp/event-stream.ts';
import type { Heartbeat, HeartbeatListener } from '../../timing/shared-timers.ts';
import type { Session } from '../era-2025-11-25/sessions/session.ts';

/** What a connection is made with. */
export interface SseConnectionParts {
  readonly stream: ResponseStream;
  readonly caller: Caller;
  /** Key of its share of the connections without a session. */
  readonly share: string;
  readonly heartbeat: Heartbeat;
  /** Unsent bytes over which a client that reads too slowly is disconnected. */
  readonly mostPendingBytes: number;
  /** Called once, when the connection has ended, on either side. */
  ended(connection: SseConnection, why: ConnectionEnd): void;
}

/** Why a connection ended: the client left, never initialized, reads too slowly, or this side ended it. */
export type ConnectionEnd = 'left' | 'unused' | 'slow' | 'closed';

/** The event stream of one client: everything that the server sends to it. */
export class SseConnection implements HeartbeatListener, MessageClient {
  /** In the URL to which the client POSTs; another client that knows it could send as this one. */
  readonly id = randomUUID();
  readonly caller: Caller;
  readonly share: string;
  session: Session | undefined;
  /** An `initialize` is being answered. */
  isInitializing = false;
  /** Messages that are being answered. */
  running = 0;
  readonly #parts: SseConnectionParts;
  readonly #drained = new Set<() => void>();
  #beats = 0;
  #isOpen = true;
  #endsWhenIdle = false;

  constructor(parts: SseConnectionParts) {
    this.#parts = parts;
    this.caller = parts.caller;
    this.share = parts.share;
    parts.heartbeat.streams.add(this);
    parts.stream.onDrain(() => {
      for (const each of this.#drained) each();
    });
  }

  get pendingBytes(): number {
    return this.#parts.stream.pendingBytes;
  }

  /** Runs `listener` whenever more may be written; returns how to stop that. */
  onDrain(listener: () => void): () => void {
    this.#drained.add(listener);
    return () => this.#drained.delete(listener);
  }

  write(message: readonly Buffer[]): boolean {
    return this.writeFrame(eventFrame(message));
  }

  keepAlive(): void {
    this.writeFrame(KEEP_ALIVE);
  }

  writeFrame(frame: StreamChunk): boolean {
    if (!this.#isOpen) return false;
    if (this.pendingBytes <= this.#parts.mostPendingBytes) return this.#parts.stream.write(frame);
    this.end('slow');
    return false;
  }

  /** Waits for `work`, during which the connection is not ended by {@link endWhenIdle}. */
  async during(work: void | Promise<void>): Promise<void> {
    this.running++;
    try {
      await work;
    } finally {
      this.running--;
      if (this.#endsWhenIdle) this.endWhenIdle();
    }
  }

  /** The session has a stream of its own on this connection, which sends the keep-alive comments from now on. */
  hasSession(): void {
    this.#parts.heartbeat.streams.delete(this);
  }

  beat(): void {
    if (++this.#beats > UNUSED_BEATS && !this.isInitializing) return this.end('unused');
    if (this.pendingBytes === 0) this.keepAlive();
  }

  /** Ends the connection as soon as all running calls are answered. */
  endWhenIdle(): void {
    if (this.running === 0) this.end('closed');
    else this.#endsWhenIdle = true;
  }

  end(why: ConnectionEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#parts.heartbeat.streams.delete(this);
    this.#drained.clear();
    this.#parts.stream.end();
    this.#parts.ended(this, why);
  }
}

const UNUSED_BEATS = 4; // keep-alive intervals in which a client has to initialize
