import type { Caller } from './caller.ts';
import type { Era } from './era.ts';
import type { JsonObject, RawJson } from './json.ts';
import type { WireError } from './wire-error.ts';

/** The client side of a call: what the client declared, and how messages of the backend reach it before the result. */
export interface ClientContext {
  readonly era: Era;
  /** The revision of a legacy session, which may be older than the name of its era; absent without a session. */
  readonly protocolVersion?: string;
  /** The capabilities the client declared (session or request), decoded. */
  readonly capabilities: JsonObject;
  /** `clientInfo` as declared; for display and logs only. */
  readonly clientInfo: JsonObject | undefined;
  /** Owner of the backend sessions that serve this client. */
  readonly owner: SessionOwner;
  /** The raw progress token of the client; `undefined` when it wants no progress. */
  readonly progressToken: RawJson | undefined;
  /** Least severe log level that the client wants (RFC 5424 names); `undefined` for no logs. */
  readonly logLevel: string | undefined;
  /** Sends one progress or log notification of this call to the client. `params` carries the client's own token. */
  notify(method: string, params: RawJson): void;
  /**
   * Sends a request of a backend (`elicitation/create`, `sampling/createMessage`, `roots/list`) to the client.
   * Absent when the client cannot receive requests during a call.
   */
  readonly request?: ClientRequester;
}

/** Sends one request to a client and resolves with the response. */
export type ClientRequester = (method: string, params: RawJson, signal: AbortSignal) => Promise<ClientResponse>;

/** A client's response: a raw result object or a JSON-RPC error. */
export type ClientResponse = { readonly result: RawJson } | { readonly error: WireError };

/**
 * The owner of the backend sessions that a call uses.
 *
 * A legacy client session is an owner of its own; modern callers share one owner per caller and declared capabilities.
 */
export interface SessionOwner {
  /** Pool key, e.g. `session:{id}` or `caller:{key}:{capability class}`. */
  readonly key: string;
  readonly caller: Caller;
  /** Key for limits on shared resources; by default that of the caller. */
  readonly share?: string | undefined;
  /** The era of the client; absent when the owner is not a client. */
  readonly era?: Era;
  /** Capabilities declared to backends for this owner. */
  readonly capabilities: JsonObject;
  /** `capabilityClass(capabilities)`: selects the lists that this owner sees. */
  readonly capabilityClass: string;
  /** Key of its own lists within the class, when lists depend on the caller; absent otherwise. */
  readonly listClass?: string | undefined;
  /** Receives the messages that a backend sends outside calls. */
  readonly sink?: SessionListener;
}

/** Receives the messages of one backend session that belong to no call. */
export interface SessionListener {
  resourceUpdated(backend: string, params: RawJson): void;
  logged(backend: string, params: RawJson): void;
  /** The backend reported changed lists to this session, and the lists stored for its class did not change. */
  listsChanged?(backend: string, kinds: readonly ('tools' | 'prompts' | 'resources')[]): void;
  /** A notification of any other kind, e.g. `notifications/elicitation/complete`. */
  notified?(backend: string, method: string, params: RawJson): void;
  /** Handles a request that belongs to no call; absent when the client cannot receive one. */
  readonly request?: ClientRequester;
}
