import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { Era } from './era.ts';
import type { Inbound } from './inbound.ts';
import type { JsonObject, RawJson, RawMembers } from './json.ts';
import type { Refusal } from './refusal.ts';

/** The methods that are about one catalogue entry and run through the whole pipeline. */
export type CallMethod =
  | 'tools/call'
  | 'prompts/get'
  | 'resources/read'
  | 'resources/subscribe'
  | 'completion/complete';

/** One call. Immutable: a tap that changes something returns `callWith(call, changes)`. */
export interface Call {
  /** Correlation id: the same in every round, inner call, audit line and log line of one call. */
  readonly id: string;
  readonly method: CallMethod;
  /** Advertised tool or prompt name, or resource URI. */
  readonly name: string;
  /** The catalogue entry that `name` was resolved to. */
  readonly target: CatalogEntry;
  /** The params object without `_meta`, as the client sent it. Only `name` or `uri` is rewritten for the backend. */
  readonly params: RawJson;
  /** The members of `params`, for code that replaces some of them without scanning the bytes again. */
  readonly members: RawMembers;
  /** `params.arguments`, decoded on first read; `{}` when absent. */
  readonly arguments: JsonObject;
  /** The client's end-to-end `_meta` members, without reserved per-hop keys and without the progress token. */
  readonly meta: RawJson | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  /** The HTTP request of the call, also for inner calls; absent for `gateway.perform`. */
  readonly inbound?: Inbound | undefined;
  /** Client headers that `passthroughHeaders` allows, lower-case name to value. */
  readonly headers: Readonly<Record<string, string>>;
  /** The call that made this call (composite step, script, `call_tool`). */
  readonly parent?: Call;
  /** 1 for the first round; one more after every answered `input_required`. */
  readonly round: number;
  /** Opaque state of the backend, taken from a verified `requestState`. */
  readonly backendState?: string;
  /** The client's answers to the input requests of the last round: the raw `inputResponses` object. */
  readonly inputResponses?: RawJson;
  /** Aborts when the call is cancelled. Created on first use. */
  readonly signal: AbortSignal;
  /** The same without an AbortSignal, which costs more; the gateway itself uses this one. */
  readonly cancel: Cancellation;
}

/** The result of a backend or of a virtual entry. */
export interface CallResult {
  /** The result object as it was received. A tap that changes it makes a new result with `resultFromValue`. */
  readonly bytes: RawJson;
  /** The result object, decoded on first read. */
  readonly value: JsonObject;
  /** `complete`, `input_required`, or a type that an extension defines. */
  readonly resultType: string;
  /** The tool reported a failure (`isError: true`). */
  readonly isError: boolean;
}

/** The outcome of one call. */
export type Reply = { readonly result: CallResult } | { readonly refusal: Refusal } | { readonly error: WireError };

/** A JSON-RPC error object. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  /** Raw JSON; absent without data. */
  readonly data?: RawJson;
  /** A raw JSON object with the other members of the error object, if it has any. */
  readonly members?: RawJson;
  /** HTTP status, when the era requires another one than 200. */
  readonly status?: number;
}

/** Runs the call at its target. The pipeline wraps it once, at boot. */
export type Dispatch = (call: Call) => Promise<CallResult>;

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

/** What listeners of `callSettled` receive after the reply. */
export interface CallRecord {
  readonly call: Call;
  readonly outcome: 'ok' | 'toolError' | 'refused' | 'error' | 'fault' | 'cancelled' | 'abandoned';
  readonly refusal?: Refusal;
  readonly error?: WireError;
  readonly cause?: unknown;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly rounds: number;
  readonly resultBytes: number;
  /** The result; listeners copy what they keep, because the bytes belong to the response. */
  readonly result?: CallResult;
}

/** The four kinds of catalogue entries. */
export type EntryKind = 'tool' | 'prompt' | 'resource' | 'template';

/** Why clients do not see an entry that inner calls can reach; `shadowed`: a curated tool has its name. */
export type HiddenBy = 'excludeAllTools' | 'excludeAll' | 'filter' | 'shadowed';

/** A tool, prompt, resource or resource template, under the name that clients use for it. */
export interface CatalogEntry<K extends EntryKind = EntryKind> {
  readonly kind: K;
  /** Advertised tool or prompt name, resource URI, or URI template. */
  readonly key: string;
  /** Name of the backend, or the address of the plugin that made a virtual entry. */
  readonly backend: string;
  /** The backend's own name for it; equals `key` for URIs and templates. */
  readonly original: string;
  /** Names between `original` and `key`; inner calls find the tool as `backend.name` by them too. */
  readonly aliases?: readonly string[];
  /** Era of the backend that listed it; absent for virtual entries. */
  readonly era?: Era;
  /** The list item that clients get: the backend's bytes with only the overridden members replaced. */
  readonly definition: RawJson;
  readonly hiddenBy?: HiddenBy;
  /** Rank of its backend in an explicit priority order, 0 first; decides between backends that claim the same name. */
  readonly rank?: number;
  /** The only path that serves the entry: `front` is the endpoint's own path, `direct` the second one. Absent: both. */
  readonly servedAt?: 'front' | 'direct';
  /**
   * A virtual entry that only calls other tools. Policies decide each inner call under its real name; the entry itself
   * is refused only by a policy that forbids it by name.
   */
  readonly isDispatcher?: true;
  /** A dispatcher that makes one inner call at most, so that counting the entry also counts the inner call. */
  readonly makesOneCall?: true;
  /** A placeholder that `authorize` gets for an unknown name; never listed, never run. */
  readonly isMissing?: true;
  /**
   * For a resource that no list contains: the backends that might have it. There are several, so none was requested.
   */
  readonly mayBeOf?: readonly string[];
  /** What changed the entry, in order, e.g. `['override.name', 'prefix']`; shown by `vmcp explain`. */
  readonly shapedBy: readonly string[];
  /** Arguments mirrored into `Mcp-Param-*` headers, compiled when the list was read (MCP 2026-07-28, `x-mcp-header`). */
  readonly mirrored?: readonly MirroredParam[];
  /** Runs a virtual entry; without it the call is sent to the backend. */
  readonly run?: (call: Call) => Promise<CallResult>;
}

export type ToolEntry = CatalogEntry<'tool'>;
export type PromptEntry = CatalogEntry<'prompt'>;
export type ResourceEntry = CatalogEntry<'resource'>;
export type TemplateEntry = CatalogEntry<'template'>;

/** Header `Mcp-Param-{header}` takes the value at `path` inside the arguments. */
export interface MirroredParam {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}
