import type { AuthContext } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Cancellation } from '../../contract/cancellation.ts';
import type { ClientRequester } from '../../contract/client-context.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Part } from '../../json/byte-pieces.ts';
import type { RawObject } from '../../json/raw-json.ts';
import type { HeldBytes } from '../../mcp/byte-budget.ts';
import type { ListKind } from '../../mcp/methods.ts';
import type { ConnectionFailure } from '../failure.ts';

/** The owner of a session. Read each time, because the caller's token may have been renewed. */
export interface SessionFor {
  readonly caller: Caller;
}

/** The caller of requests that the gateway makes for itself. */
export const DISCOVERY_CALLER: Caller = { issuer: '', subject: 'gateway', key: '\u0000gateway', claims: {} };

/** One request to a backend. */
export interface OutgoingRequest {
  readonly method: string;
  /** The members of the params object in order, without `_meta`. */
  readonly params: readonly Part[];
  /** End-to-end `_meta` members as a raw object. */
  readonly meta?: RawJson;
  readonly caller: Caller;
  readonly purpose: AuthContext['purpose'];
  /** Sent in the envelope to a modern backend. */
  readonly capabilities: JsonObject;
  readonly logLevel?: string | undefined;
  /** Extra HTTP headers, lower case; they never replace those of the connection or the authorizer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `mcp-name` and `mcp-param-*`, for modern HTTP backends. */
  readonly mirrored?: Readonly<Record<string, string>>;
  /** Time limit for the response; progress restarts it. */
  readonly timeoutMs: number;
  /** Time limit with or without progress. 0 = none: a listen stream stays open. */
  readonly totalMs: number;
  readonly signal?: AbortSignal;
  /** The same without an AbortSignal; calls have this one. */
  readonly cancel?: Cancellation;
  readonly listener?: MessageListener;
  /** Counts the bytes of the result; without it those of the backend count them until they are passed on. */
  readonly held?: HeldBytes | undefined;
  /** Receives the notifications of a `subscriptions/listen` request. */
  readonly onNotification?: (method: string, params: RawObject) => void;
  /** Set for the first requests of a connection, before its era is known. */
  readonly era?: Era;
}

/** Receives the messages of a backend that belong to one request. */
export interface MessageListener {
  readonly progressToken: RawJson | undefined;
  notify(method: string, params: RawJson): void;
  readonly request?: ClientRequester;
}

/** Receives the messages of a backend that belong to no request. */
export interface SessionEvents {
  listChanged(kind: ListKind): void;
  /** `params` without reserved `_meta`. */
  updated(params: RawJson): void;
  logged(params: RawJson): void;
  /** Any other notification outside requests. */
  notified(method: string, params: RawJson): void;
  /** A message arrived while several calls were in flight, without saying which one it belongs to. */
  ambiguousMessage(): void;
  /** Absent when no client can receive requests. */
  readonly request?: ClientRequester;
  /** The connection ended by itself. Called once, and not after `close`. */
  lost(cause: ConnectionFailure): void;
}

/** One pending request, as its transport sees it. */
export interface Exchange {
  readonly id: number | string;
  readonly asked: OutgoingRequest;
  readonly settled: boolean;
  fail(cause: unknown): void;
  /** Set by the transport: stops sending or reading. */
  abandon: (() => void) | undefined;
}

/** Transports messages. */
export interface Transport {
  /** Whether closing the stream of a request cancels it (modern HTTP); otherwise a notification does. */
  readonly closingCancels: boolean;
  readonly stateful: boolean;
  /** Sends a request. Messages are passed to the sink; an error fails the exchange. */
  send(body: Buffer, exchange: Exchange, era: Era): void;
  /** Sends a notification or a response. @throws ConnectionFailure */
  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void>;
  /** The era is negotiated: all later messages carry its headers. */
  agreed(era: Era, protocolVersion: string): void;
  close(): Promise<void>;
}

/** Receives the messages of a transport. */
export interface TransportSink {
  /**
   * Receives one message. `via` is the request on whose own stream it arrived, if known.
   * @throws RawJsonError when it is not a JSON object
   */
  hear(message: Buffer, via: Exchange | undefined): void;
  /** Fails every request in flight; the connection stays open. */
  failAll(cause: ConnectionFailure): void;
  /** The transport ended by itself. */
  lost(cause: ConnectionFailure): void;
}
