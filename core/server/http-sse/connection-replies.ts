import { eventFrame, KEEP_ALIVE } from '../../mcp/event-stream.ts';
import type { RequestRecorder } from '../http/request-recorder.ts';
import type { MessageStream, Replies } from '../replies.ts';
import type { SseConnection } from './sse-connection.ts';

/**
 * The replies to one message of a client, sent on its connection.
 *
 * `isRequest` is `false` for messages that are not answered: an error about them is dropped. `record` gets what is sent as if it were the
 * response to the POST.
 */
export function repliesOn(connection: SseConnection, isRequest: boolean, record?: RequestRecorder): Replies {
  let isAnswered = false;
  return {
    mayStream: true,
    failed: (error) => record?.failed(error),
    send(status, _headers, message) {
      if (isAnswered) return;
      isAnswered = true;
      if (isRequest && message !== undefined) connection.write(eventFrame([message].flat()));
      record?.answered(status, message);
    },
    stream() {
      isAnswered = true;
      return streamOn(connection, {
        wrote: (frame) => record?.wrote(frame),
        ended: () => record?.answered(200),
      });
    },
    onDisconnect: ignore, // the end of the connection ends the session, and with it all its calls
  };
}

/** Messages on a connection, without event ids: this transport has no resumption. */
export function streamOn(
  connection: SseConnection,
  { wrote = ignore, ended }: { wrote?(frame: Buffer): void; ended(): void },
): MessageStream {
  const listening: (() => void)[] = [];
  let isOpen = true;
  return {
    write({ parts }) {
      if (!isOpen) return false;
      const frame = eventFrame(parts);
      wrote(frame);
      return connection.write(frame);
    },
    keepAlive() {
      if (isOpen) connection.write(KEEP_ALIVE);
    },
    onDrain: (listener) => void listening.push(connection.onDrain(listener)),
    end() {
      if (!isOpen) return;
      isOpen = false;
      for (const stop of listening) stop();
      ended();
    },
    get pendingBytes() {
      return connection.pendingBytes;
    },
  };
}

const ignore = (): void => {};
