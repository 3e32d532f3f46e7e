import type { Call } from './call.ts';
import type { Caller } from './caller.ts';
import type { Era } from './era.ts';
import type { Inbound } from './inbound.ts';
import type { JsonObject, RawMembers } from './json.ts';
import type { SessionView } from './session.ts';

/**
 * What listeners receive about one HTTP request: served or refused, MCP or not.
 *
 * Listeners copy what they keep: the record holds the request and the bytes of its response.
 */
export interface RequestRecord {
  /** Correlation id. The call of this request has it as `Call.id`. */
  readonly id: string;
  readonly inbound: Inbound;
  /** W3C trace id, set by the tracing plugin. */
  traceId?: string | undefined;
  /** Address of the socket, read while it was open. */
  readonly remoteAddress: string | undefined;
  /** What served it: the MCP endpoint or a mounted route; `undefined` when neither did. */
  readonly servedBy: 'mcp' | 'route' | undefined;
  /** `undefined` when no caller was identified. */
  readonly caller: Caller | undefined;
  readonly era: Era | undefined;
  /** The JSON-RPC message of its body, if it could be read. */
  readonly message: MessageView | undefined;
  /** The legacy session that it opened or belongs to. */
  readonly session: SessionView | undefined;
  /** The client's `clientInfo`, from the request or from its session. */
  readonly clientInfo: JsonObject | undefined;
  /** The call that it made or resumed; `callSettled` reports the end of that call, once for all its rounds. */
  readonly call: Call | undefined;
  /** Why it was refused before its body was read: a foreign Host or Origin, missing credentials, a stopping gateway. */
  readonly refusal: string | undefined;
  /** HTTP status; 0 when the client disconnected before there was one. */
  readonly status: number;
  /** The response was an event stream. */
  readonly isStream: boolean;
  /** The client disconnected before the response was complete. */
  readonly isGone: boolean;
  /** The JSON-RPC error of the response. */
  readonly error: { readonly code: number; readonly message: string } | undefined;
  /** The body of the response, not copied; `undefined` for an event stream. */
  readonly body: Buffer | string | readonly Buffer[] | undefined;
  readonly responseBytes: number;
  readonly startedMs: number;
  /** Milliseconds until the response was complete, for a stream until its end. */
  readonly durationMs: number;
}

/** A JSON-RPC message as listeners see it. */
export interface MessageView {
  readonly kind: 'request' | 'notification' | 'response';
  readonly method?: string;
  /** The id of a request, decoded. */
  readonly key?: string | number;
  /** For requests: members of the params, not decoded. */
  readonly params?: RawMembers;
  /** For requests and notifications: the decoded params. */
  readonly given?: JsonObject;
}

/** The record while its request is served: the pipeline adds the call. */
export interface OpenRequestRecord extends RequestRecord {
  call: Call | undefined;
}

/** Gets a record of each request. */
export interface RequestListener {
  /** An event stream begins; it may last for days. */
  streamOpened(record: RequestRecord): void;
  /** The response is complete, or the client has disconnected. Once per request. */
  settled(record: RequestRecord): void;
  now(): number;
}
