import type { Cancellation } from './cancellation.ts';

/** One HTTP request as the gateway sees it: no framework object goes further in than the door. */
export interface Inbound {
  readonly method: string;
  /** Path without query, e.g. `/mcp`. */
  readonly path: string;
  /** Header names in lower case; repeated headers joined as Node joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  /** Aborted when the asking side goes away. Read it only where something waits: it is made on first use. */
  readonly signal: AbortSignal;
  /** The same without the platform's signal, where the door has it. */
  readonly cancel?: Cancellation;
  /** The `RequestRecord` that the endpoint keeps while somebody listens to `requestSettled`; its id joins what is told. */
  record?: { readonly id: string; traceId?: string | undefined };
}

/** The way back to the client: one whole answer, or one event stream. */
export interface Responder {
  /** Sends a whole answer; later calls are ignored. */
  send(status: number, headers: Readonly<Record<string, string>>, body?: Buffer | string | readonly Buffer[]): void;
  /** Starts a streamed answer. */
  open(status: number, headers: Readonly<Record<string, string>>): ResponseStream;
  /** Runs `listener` once when the client's connection closes before the answer is complete. */
  onGone(listener: () => void): void;
}

/** A streamed answer. `write` says whether more may follow at once; `onDrain` tells when it may again. */
export interface ResponseStream {
  write(chunk: Buffer | string): boolean;
  onDrain(listener: () => void): void;
  end(): void;
  /** Bytes accepted and not yet handed to the socket. */
  readonly pendingBytes: number;
}
