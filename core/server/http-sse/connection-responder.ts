import type { Responder, ResponseHeaders, ResponseStream } from '../../contract/inbound.ts';
import { eventFrame, KEEP_ALIVE } from '../../mcp/event-stream.ts';
import type { RequestRecorder } from '../http/request-recorder.ts';
import type { SseConnection } from './sse-connection.ts';

/** The response to one message of a client, sent as events on the client's connection. */
export interface ConnectionResponder extends Responder {
  /** `mcp-session-id` of the response. */
  readonly sessionId: string | undefined;
}

/**
 * Makes the responder of one message.
 *
 * Shape: the body of a response becomes one `message` event, and a streamed response the events of its messages. `isRequest`
 * is `false` for messages that are not answered: a body about them is dropped. `record` gets the response as if it were that of the POST.
 */
export function respondOn(
  connection: SseConnection,
  isRequest: boolean,
  record?: RequestRecorder,
): ConnectionResponder {
  let answered: ResponseHeaders | undefined;
  return {
    failed: (error) => record?.failed(error),
    send(status, headers, body) {
      if (answered !== undefined) return;
      answered = headers;
      const parts = partsOf(body);
      if (isRequest && parts.length > 0) connection.write(eventFrame(parts));
      record?.answered(status, body);
    },
    open(status, headers) {
      answered = headers;
      return messageStream(connection, {
        wrote: (chunk) => record?.wrote(chunk),
        ended: () => record?.answered(status),
      });
    },
    onDisconnect: ignore, // the end of the connection ends the session, and with it all its calls
    get sessionId() {
      const id = answered?.['mcp-session-id'];
      return typeof id === 'string' ? id : undefined;
    },
  };
}

/**
 * A stream whose `message` events are sent on a connection.
 *
 * Without event ids and priming events: this transport has no resumption, and its clients take each event for a message.
 */
export function messageStream(
  connection: SseConnection,
  { wrote = ignore, ended }: { wrote?(chunk: Buffer | string): void; ended(): void },
): ResponseStream {
  const listening: (() => void)[] = [];
  let isOpen = true;
  return {
    write(chunk) {
      if (!isOpen) return false;
      if (chunk === KEEP_ALIVE) return connection.write(chunk);
      const at = chunk.indexOf(MESSAGE);
      if (at === -1) return true;
      wrote(chunk);
      return connection.write(typeof chunk === 'string' ? chunk.slice(at) : chunk.subarray(at));
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

function partsOf(body: Parameters<Responder['send']>[2]): readonly Buffer[] {
  if (body === undefined) return [];
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : (body as readonly Buffer[]);
}

const MESSAGE = 'event: message\n';
const ignore = (): void => {};
