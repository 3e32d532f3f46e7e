import type { MessageClient } from '../contract/message-client.ts';
import { byteLength } from '../json/byte-pieces.ts';
import type { MessageStream } from './replies.ts';

/** Who is notified of what is sent on a stream. */
export interface StreamListener {
  wrote?(bytes: number): void;
  ended(): void;
}

/** A stream on a connection that carries other messages too. Without event ids: a lost connection is not resumed. */
export function streamOn(
  client: MessageClient & Partial<Pick<MessageStream, 'keepAlive'>>,
  { wrote, ended }: StreamListener,
): MessageStream {
  const listening: (() => void)[] = [];
  let isOpen = true;
  return {
    write({ parts }) {
      if (!isOpen) return false;
      wrote?.(byteLength(parts));
      return client.write(parts);
    },
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
