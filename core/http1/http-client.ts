import type { Origin } from './origin.ts';

/** The connections to one origin. */
export interface HttpClient {
  /** Sends one request. Every failure reaches the reader, some before this returns; nothing is thrown. */
  send(request: OutgoingRequest, reader: ResponseReader): RequestControl;
  stats(): HttpClientStats;
  /** Takes no more requests; resolves when those under way have ended. */
  close(): Promise<void>;
  /** Takes no more requests and cuts those under way. */
  destroy(): Promise<void>;
}

/** Makes the client of an origin; opens nothing. */
export type HttpClientFactory = (origin: Origin, options: HttpClientOptions) => HttpClient;

/** How long connections are waited for and kept, and what of a response is kept. */
export interface HttpClientOptions {
  readonly connectTimeoutMs: number;
  /** An idle connection is closed after this, or a second before the server says that it will. */
  readonly keepAliveMs: number;
  /** Response headers, in lower case, that `ResponseHead.header` gives; others are not kept. */
  readonly keptHeaders?: ReadonlySet<string>;
}

/** Connections of one client. */
export interface HttpClientStats {
  /** Open or being opened. */
  readonly connections: number;
  /** Open and without a request. */
  readonly idle: number;
}

/** Controls one request. Without effect once the request is over. */
export interface RequestControl {
  /**
   * Ends the request: the reader gets `failed` with the reason, and the connection is cut if the request was sent. Without
   * a connection yet, the request is never sent.
   */
  abort(reason: Error): void;
  /** No more bytes are read until `resume`. What was read already is still delivered. */
  pause(): void;
  resume(): void;
}

/** Reads the response to one request. Ends with exactly one of `ended` and `failed`. */
export interface ResponseReader {
  /** Status and headers are there. */
  answered(flow: RequestControl, head: ResponseHead): void;
  /** A part of the body, without its transfer and content codings. The bytes belong to the reader, which may keep them. */
  received(flow: RequestControl, bytes: Buffer): void;
  /** The body is complete. */
  ended(): void;
  /** When `isSent` is false, no byte of the request was sent. */
  failed(error: Error, isSent: boolean): void;
}

/** Controls a request that failed before there was a connection for it. */
export const NOT_SENT: RequestControl = { abort() {}, pause() {}, resume() {} };

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly location: string | undefined;
  /** `Content-Encoding`, all of them in the order they were applied. */
  readonly contentEncoding: string | undefined;
  /** One of {@link HttpClientOptions.keptHeaders}, named in lower case; of equal headers the first. */
  header(name: string): string | undefined;
}

/** What is sent. Header names and values are checked when they are written. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}
