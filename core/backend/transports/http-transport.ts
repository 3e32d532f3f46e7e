import { isUtf8 } from 'node:buffer';
import type { Era } from '../../contract/era.ts';
import { RawJsonError } from '../../json/json-errors.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { type ErrorMembers, errorOf, idFrom } from '../../mcp/backend-message.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { SseFrames, SseTooLarge } from '../../mcp/sse-frames.ts';
import { ConnectionFailure } from '../failure.ts';
import type { Exchange, TransportSink } from '../sessions/backend-session.ts';
import type { HttpTarget } from './http-target.ts';

/** What the readers of responses and streams need from their transport. */
export interface HttpTransport {
  readonly backend: string;
  readonly target: HttpTarget;
  readonly sink: TransportSink;
  readonly limits: Limits;
  readonly closed: boolean;
  readonly bytes: ByteBudget;
  /** Headers of every message of this transport. */
  headers(era: Era, accept: string): Record<string, string>;
  send(body: Buffer, exchange: Exchange, era: Era): void;
  /** The first response contains the session id. */
  learnSession(id: string | undefined): void;
  /** The server does not know the session any more; requests that it refused for this did not run. */
  sessionLost(status: number): ConnectionFailure;
  /** Whether an error response means that the session has ended. */
  isSessionLoss(status: number, body: Buffer): boolean;
}

export const JSON_TYPE = 'application/json';
export const STREAM_TYPE = 'text/event-stream';

/** Reason of streams that the gateway closes; never shown. */
export const WITHDRAWN = new Error('withdrawn by the gateway');

/**
 * Passes events to the sink, with the request of the stream. An event that is not a message is reported to `onStray`
 * and skipped, as SDK clients do: the response may follow.
 */
export function framesFor(
  wire: HttpTransport,
  exchange: Exchange | undefined,
  onStray?: (cause: Error) => void,
): SseFrames {
  return new SseFrames(wire.limits.frameBytes, (event) => {
    if (event.name !== 'message' || event.data.length === 0) return;
    try {
      wire.sink.hear(event.data, exchange);
    } catch (cause) {
      if (!(cause instanceof RawJsonError || cause instanceof SyntaxError)) throw cause;
      onStray?.(cause);
    }
  });
}

/** Reads a chunk; returns the failure when an event is too large. */
export function pushFrames(frames: SseFrames, chunk: Buffer, wire: HttpTransport): ConnectionFailure | undefined {
  try {
    frames.push(chunk);
    return undefined;
  } catch (cause) {
    if (cause instanceof SseTooLarge) return tooLarge(wire.backend, wire.limits.frameBytes);
    throw cause;
  }
}

/** The failure for a response over a size limit. */
export function tooLarge(backend: string, limit: number): ConnectionFailure {
  return new ConnectionFailure(backend, 'too-large', `sent more than ${limit} bytes`);
}

/** The failure for anything that is not a message. */
export function notMcp(backend: string, cause: unknown): ConnectionFailure {
  return new ConnectionFailure(backend, 'protocol', 'sent something that is not an MCP message', { cause });
}

/** A JSON-RPC error and the id of its request. */
export interface ErrorIn extends ErrorMembers {
  readonly id: number | string | undefined;
}

/** The JSON-RPC error in a body, if it is one. */
export function errorIn(body: Buffer): ErrorIn | undefined {
  try {
    if (!isUtf8(body)) return undefined;
    const message = RawObject.parse(body);
    const error = message.object('error');
    return error === undefined ? undefined : { id: idFrom(message.get('id')), ...errorOf(error) };
  } catch {
    return undefined; // HTML and other texts: the status is sufficient
  }
}
