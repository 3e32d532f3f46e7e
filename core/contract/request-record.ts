import type { Call } from './call.ts';
import type { Caller } from './caller.ts';
import type { Era } from './era.ts';
import type { Inbound } from './inbound.ts';
import type { JsonObject, RawMembers } from './json.ts';
import type { SessionView } from './session.ts';

/**
 * What is told about one HTTP request: served or refused, MCP or not.
 *
 * Read it while it is told and copy what is kept: it holds the request and the bytes of its answer.
 */
export interface RequestRecord {
  /** Correlation id. A call that begins with this request has it as `Call.id`. Made on first use. */
  readonly id: string;
  readonly inbound: Inbound;
  /** W3C trace id, written here by the plugin that traces, once it knows the trace. */
  traceId?: string | undefined;
  /** Of the socket, read while it was open. */
  readonly remoteAddress: string | undefined;
  /** Who served it: the MCP endpoint, or a mounted route. `undefined` when it got to neither. */
  readonly face: 'mcp' | 'route' | undefined;
  /** `undefined` when nobody was identified. */
  readonly caller: Caller | undefined;
  readonly era: Era | undefined;
  /** The JSON-RPC message of its body, when there was a readable one. */
  readonly message: MessageView | undefined;
  /** The legacy session it opened or belongs to. */
  readonly session: SessionView | undefined;
  /** What the client says of itself, in the request or when it opened its session. */
  readonly clientInfo: JsonObject | undefined;
  /** The call it made or took up again; `callSettled` tells that one's end, once for all its rounds. */
  readonly call: Call | undefined;
  /** Why it was refused before it was read: a foreign Host or Origin, no credentials, a stopping gateway. */
  readonly refusal: string | undefined;
  /** HTTP status; 0 when the client left before there was one. */
  readonly status: number;
  /** Answered by an event stream. */
  readonly isStream: boolean;
  /** The client left before the answer was complete. */
  readonly isGone: boolean;
  /** The JSON-RPC error that the answer was. */
  readonly error: { readonly code: number; readonly message: string } | undefined;
  /** The body of the answer, uncopied; `undefined` for an event stream. */
  readonly body: Buffer | string | readonly Buffer[] | undefined;
  readonly responseBytes: number;
  readonly startedMs: number;
  /** Until the answer was complete, of a stream until its end. */
  readonly durationMs: number;
}

/** A JSON-RPC message as listeners may see it. */
export interface MessageView {
  readonly kind: 'request' | 'notification' | 'response';
  readonly method?: string;
  /** The id of a request, decoded. */
  readonly key?: string | number;
  /** Of requests: members of the params, not decoded. */
  readonly params?: RawMembers;
  /** Of requests and notifications: the params decoded. */
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
  /** The answer is complete, or its asker has left. Once per request. */
  settled(record: RequestRecord): void;
  now(): number;
}
