import type { MessageClient } from '../contract/message-client.ts';
import { byteLength } from '../json/byte-pieces.ts';
import type { RequestRecorder } from './http/request-recorder.ts';
import type { MessageStream, Replies } from './replies.ts';

/** A client whose connection may need comments that keep it open. */
type ConnectedClient = MessageClient & Partial<Pick<MessageStream, 'keepAlive'>>;

/** What the replies to one message do besides being written. */
export interface ReplyOptions {
  /** Gets what is sent as the response to the message. */
  readonly record?: RequestRecorder | undefined;
  /** Writes instead of the client, e.g. nothing. */
  write?(message: readonly Buffer[]): boolean;
  /** A stream begins. */
  opened?(): void;
  /** Everything is sent. */
  done?(): void;
  readonly onDisconnect?: Replies['onDisconnect'];
}

/** The replies to one message of a client that has a connection: they are written on it, beside other messages. */
export function repliesOn(
  client: ConnectedClient,
  { record, write = (parts) => client.write(parts), opened, done, onDisconnect = () => {} }: ReplyOptions,
): Replies {
  let isAnswered = false;
  return {
    mayStream: true,
    failed: (error) => record?.failed(error),
    send(status, _headers, message) {
      if (isAnswered) return;
      isAnswered = true;
      if (message !== undefined) write([message].flat());
      record?.answered(status, message);
      done?.();
    },
    stream() {
      isAnswered = true;
      opened?.();
      const recorded = (parts: readonly Buffer[]): boolean => {
        record?.wrote(byteLength(parts));
        return write(parts);
      };
      return streamOn(
        client,
        () => {
          record?.answered(200);
          record?.ended();
          done?.();
        },
        recorded,
      );
    },
    onDisconnect,
  };
}

/** A stream on a connection. Without event ids: a lost connection is not resumed. */
export function streamOn(
  client: ConnectedClient,
  ended: () => void,
  write: MessageClient['write'] = (parts) => client.write(parts),
): MessageStream {
  const listening: (() => void)[] = [];
  let isOpen = true;
  return {
    write: ({ parts }) => isOpen && write(parts),
    keepAlive() {
      if (isOpen) client.keepAlive?.();
    },
    onDrain: (listener) => void listening.push(client.onDrain(listener)),
    end() {
      if (!isOpen) return;
      isOpen = false;
      for (const stop of listening) stop();
      ended();
    },
    get pendingBytes() {
      return client.pendingBytes;
    },
  };
}
