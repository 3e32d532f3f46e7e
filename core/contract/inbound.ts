import type { Cancellation } from './cancellation.ts';

/** One HTTP request, without any framework object, or one message of a connection: then `POST`, without headers. */
export interface Inbound {
  /** Set for a message of a connection. */
  readonly transport?: 'stdio';
  readonly method: string;
  /** Path without query, e.g. `/mcp`. */
  readonly path: string;
  /** The query without `?`, when the adapter provides it. It may hold secrets: it is never logged. */
  readonly query?: string | undefined;
  /** Header names in lower case; repeated headers joined as Node joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  /** Aborted when the client disconnects. Created on first read, so read it only where it is needed. */
  readonly signal: AbortSignal;
  /** The same without an AbortSignal, when the adapter provides it. */
  readonly cancel?: Cancellation;
  /** Counts the bytes that the gateway holds for this request; set by the endpoint. */
  held?: { readonly bytes: number };
  /** The `RequestRecord` of this request, kept while `requestSettled` has listeners. */
  record?: { readonly id: string; traceId?: string | undefined };
}

/** Headers of a whole response. Only `set-cookie` may be a list: one header line for each text. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Sends the response: one whole body, or one event stream. */
export interface Responder {
  /** Called before a response that is a JSON-RPC error. Only the record of a request needs it. */
  failed?(error: { readonly code: number; readonly message: string }): void;
  /** Sends a whole response; later calls are ignored. */
  send(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void;
  /** Starts a streamed response. */
  open(status: number, headers: Readonly<Record<string, string>>): ResponseStream;
  /** Called once after the request was handled: what the client has not read counts as held until then. */
  served?(): void;
  /** Runs `listener` once when the client's connection closes before the response is complete. */
  onDisconnect(listener: () => void): void;
}

/** What is written to a stream; pieces follow one another. */
export type StreamChunk = Buffer | string | readonly Buffer[];

/** A streamed response. `write` returns whether more may be written at once; `onDrain` reports when it may again. */
export interface ResponseStream {
  write(chunk: StreamChunk): boolean;
  onDrain(listener: () => void): void;
  end(): void;
  /** Bytes accepted and not yet written to the socket. */
  readonly pendingBytes: number;
}
