import type { ResponseHead } from './response-head.ts';

/** One request on its way, as the one who hears its answer may steer it. */
export interface Flow {
  /** Ends it: the connection is cut, and the reader hears `failed` with the reason. Nothing once it is over. */
  abort(reason: Error): void;
  /** No more bytes are read until `resume`. What was read already is still delivered. */
  pause(): void;
  resume(): void;
}

/** Who hears the answer to one request. Ends with exactly one of `ended` and `failed`. */
export interface ResponseReader {
  /** There is a connection, and the request is written next, unless it is aborted here. */
  started(flow: Flow): void;
  /** Status and headers are there. */
  answered(flow: Flow, head: ResponseHead): void;
  /** A part of the body, without its transfer coding; the reader may keep it. */
  received(flow: Flow, bytes: Buffer): void;
  /** The body is complete. */
  ended(): void;
  /** What `started` was not told of was not sent. */
  failed(error: Error): void;
}

/** What is sent. Header names and values are checked when they are written. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}
