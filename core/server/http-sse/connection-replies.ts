import type { RequestRecorder } from '../http/request-recorder.ts';
import type { Replies } from '../replies.ts';
import { streamOn } from '../stream-on.ts';
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
      if (isRequest && message !== undefined) connection.write([message].flat());
      record?.answered(status, message);
    },
    stream() {
      isAnswered = true;
      return streamOn(connection, { wrote: (bytes) => record?.wrote(bytes), ended: () => record?.answered(200) });
    },
    onDisconnect: () => {}, // the end of the connection ends the session, and with it all its calls
  };
}
