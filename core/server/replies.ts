import type { Responder } from '../contract/inbound.ts';
import type { RawJson } from '../contract/json.ts';

/** What a client gets for one message: an answer, or a stream of messages. Each transport has its own. */
export interface Replies extends Pick<Responder, 'failed' | 'onDisconnect'> {
  /** The client takes other messages before the answer. */
  readonly mayStream: boolean;
  /** Sends the answer, or acknowledges a message that has none. Status and headers are for transports that have them. */
  send(status: number, headers: Readonly<Record<string, string>>, message?: Buffer | readonly Buffer[]): void;
  /** Everything else is sent on this stream, the answer too. */
  stream(): MessageStream;
}

/** One message on a stream. */
export interface SentMessage {
  /** Pieces of the message. */
  readonly parts: readonly RawJson[];
  /** With it a client can resume the stream after this message, on transports that resume. */
  readonly eventId?: string;
}

/** Sends messages to one client. */
export interface MessageStream {
  /** Returns whether more may be written at once. */
  write(message: SentMessage): boolean;
  /** Names an event with which the client can resume before there is a message. Only for transports that resume. */
  prime?(eventId: string): void;
  keepAlive(): void;
  onDrain(listener: () => void): void;
  end(): void;
  /** Bytes that the client has not taken. */
  readonly pendingBytes: number;
}
