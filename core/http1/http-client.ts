import type { Origin } from './origin.ts';

/** The connections to one origin. */
export interface HttpClient {
  /** Sends one request. Every failure reaches the reader; nothing is thrown. */
  send(request: OutgoingRequest, reader: ResponseReader): void;
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

/** One request on its way: who reads the response steers it with this. */
export interface RequestControl {
  /** Ends it: the connection is cut, and the reader gets `failed` with the reason. Without effect once it is over. */
  abort(reason: Error): void;
  /** No more bytes are read until `resume`. What was read already is still delivered. */
  pause(): void;
  resume(): void;
}

/** Reads the response to one request. Ends with exactly one of `ended` and `failed`. */
export interface ResponseReader {
  /** There is a connection, and the request is written next, unless it is aborted here. */
  started(flow: RequestControl): void;
  /** Status and headers are there. */
  answered(flow: RequestControl, head: ResponseHead): void;
  /** A part of the body, without its transfer and content codings. The bytes belong to the reader, which may keep them. */
  received(flow: RequestControl, bytes: Buffer): void;
  /** The body is complete. */
  ended(): void;
  /** Without a call of `started` before it, no byte of the request was sent. */
  failed(error: Error): void;
}

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
