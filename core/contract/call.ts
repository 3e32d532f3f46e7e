import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { Era } from './era.ts';
import type { Inbound } from './inbound.ts';
import type { JsonObject, RawJson, RawMembers } from './json.ts';
import type { Refusal } from './refusal.ts';

/** The methods that reach one catalogue entry and pass every room of the flow. */
export type CallMethod =
  | 'tools/call'
  | 'prompts/get'
  | 'resources/read'
  | 'resources/subscribe'
  | 'completion/complete';

/** One call on its way down. Immutable; a tap that changes something returns `callWith(call, changes)`. */
export interface Call {
  /** Correlation id: the same in every round, inner call, audit line and log line of one call. */
  readonly id: string;
  readonly method: CallMethod;
  /** Advertised tool or prompt name, or resource URI. */
  readonly name: string;
  /** What `name` stood for in the catalogue when it was resolved. */
  readonly target: CatalogEntry;
  /** The params object without `_meta`, as the client sent it; only its members named `name` or `uri` are rewritten below. */
  readonly params: RawJson;
  /** The same by member, for those who rewrite some of it: nothing is scanned twice. */
  readonly members: RawMembers;
  /** `params.arguments` decoded; decoded on first read, `{}` when absent. */
  readonly arguments: JsonObject;
  /** The client's end-to-end `_meta` members: reserved per-hop keys and the progress token are already gone. */
  readonly meta: RawJson | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  /** The HTTP request it came with, inner calls included; absent when code called (`gateway.perform`). */
  readonly inbound?: Inbound | undefined;
  /** Allowed client headers, lower-case name to value (`passthroughHeaders`). */
  readonly headers: Readonly<Record<string, string>>;
  /** The call that made this one (composite step, script, `call_tool`). */
  readonly parent?: Call;
  /** 1 for the first round; grows with every answered `input_required`. */
  readonly round: number;
  /** Opaque state of the backend, from a sealed `requestState` that was checked. */
  readonly backendState?: string;
  /** Answers of the client to the questions of the last round: the raw `inputResponses` object. */
  readonly inputResponses?: RawJson;
  /** Aborts when nobody waits for the answer any more. Made on first use. */
  readonly signal: AbortSignal;
  /** The same, cheaper: what the gateway itself listens to. */
  readonly cancel: Cancellation;
}

/** What a backend or a virtual entry answered. */
export interface CallResult {
  /** The result object as it came. A tap that returns other bytes makes a new result with `resultFromValue`. */
  readonly bytes: RawJson;
  /** The result object decoded; decoded on first read. */
  readonly value: JsonObject;
  /** `complete`, `input_required`, or what an extension defines. */
  readonly resultType: string;
  /** A tool's own failure (`isError: true`). */
  readonly isError: boolean;
}

/** The end of one call. */
export type Reply = { readonly result: CallResult } | { readonly refusal: Refusal } | { readonly error: WireError };

/** A JSON-RPC error object. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  /** Raw JSON, when there is any. */
  readonly data?: RawJson;
  /** A raw JSON object with the other members of the error object, when its sender gave any. */
  readonly members?: RawJson;
  /** HTTP status where the era asks for another than 200. */
  readonly status?: number;
}

/** Runs the call at its target. Layers wrap it once, at boot. */
export type Dispatch = (call: Call) => Promise<CallResult>;

/** The asking side of a call: what it declared, and how a backend's messages reach it before the result. */
export interface ClientContext {
  readonly era: Era;
  /** The revision that a legacy session speaks, which may be older than its era is called; absent where there is no session. */
  readonly protocolVersion?: string;
  /** The capabilities the client declared (session or request), decoded. */
  readonly capabilities: JsonObject;
  /** `clientInfo` as declared; for display and logs only. */
  readonly clientInfo: JsonObject | undefined;
  /** Whose backend sessions serve this client. */
  readonly owner: SessionOwner;
  /** The client wants progress: the raw token it gave. */
  readonly progressToken: RawJson | undefined;
  /** Least severe level the client wants to see (RFC 5424 names), `undefined` for none. */
  readonly logLevel: string | undefined;
  /** Passes one progress or log notification of this call on. `params` carries the client's own token. */
  tell(method: string, params: RawJson): void;
  /**
   * Puts a backend's question (`elicitation/create`, `sampling/createMessage`, `roots/list`) to the client.
   * Absent when the client cannot be asked in the middle of a call.
   */
  readonly ask?: Ask;
}

/** Puts one question; resolves with the client's answer. */
export type Ask = (method: string, params: RawJson, signal: AbortSignal) => Promise<AskAnswer>;

/** A client's answer: a raw result object or a JSON-RPC error. */
export type AskAnswer = { readonly result: RawJson } | { readonly error: WireError };

/**
 * Who owns the backend sessions that a call uses.
 *
 * A legacy client session owns its own; modern callers share one owner per caller and declared capabilities.
 */
export interface SessionOwner {
  /** Pool key, e.g. `session:{id}` or `caller:{key}:{capability class}`. */
  readonly key: string;
  readonly caller: Caller;
  /** Whose share of bounded resources its sessions count against; absent: that of the caller. */
  readonly share?: string | undefined;
  /** The era of the client whose session it is; absent where the owner is no client. */
  readonly era?: Era;
  /** What is declared to a backend on this owner's behalf. */
  readonly capabilities: JsonObject;
  /** `capabilityClass(capabilities)`: which lists this owner sees. */
  readonly capabilityClass: string;
  /** Its own lists within the class, where lists may depend on who asks; absent where they do not. */
  readonly listClass?: string | undefined;
  /** Hears what a backend says outside any call. */
  readonly sink?: LinkSink;
}

/** Unsolicited messages of one backend session. */
export interface LinkSink {
  resourceUpdated(workload: string, params: RawJson): void;
  logged(workload: string, params: RawJson): void;
  /** The backend told this session that lists changed, and those that are kept for its class are what they were. */
  listsChanged?(workload: string, kinds: readonly ('tools' | 'prompts' | 'resources')[]): void;
  /** A notification of any other kind, e.g. `notifications/elicitation/complete`; absent where nobody listens for any. */
  told?(workload: string, method: string, params: RawJson): void;
  /** A question outside any call; absent when nobody can be asked. */
  readonly ask?: Ask;
}

/** What is told about a call after its reply. */
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
  /** What was answered, for those who keep a piece of it: copy, the bytes are the answer's own. */
  readonly result?: CallResult;
}

/** The four kinds of things a catalogue lists. */
export type EntryKind = 'tool' | 'prompt' | 'resource' | 'template';

/** Why an entry is routable inside the gateway but absent from what clients see; `shadowed`: a curated tool has its name. */
export type HiddenBy = 'excludeAllTools' | 'excludeAll' | 'filter' | 'shadowed';

/** One thing that may be called, read or got, under the name that clients use for it. */
export interface CatalogEntry<K extends EntryKind = EntryKind> {
  readonly kind: K;
  /** Advertised tool or prompt name, resource URI, or URI template. */
  readonly key: string;
  /** Name of the backend, or the address of the plugin that made a virtual entry. */
  readonly workload: string;
  /** The backend's own name for it; equals `key` for URIs and templates. */
  readonly original: string;
  /** Names it had on its way from `original` to `key`; inner calls find it as `workload.name` by them too. */
  readonly aliases?: readonly string[];
  /** Era of the backend that listed it; absent for virtual entries. */
  readonly era?: Era;
  /** The list item as clients get it: the backend's bytes with only the overridden members replaced. */
  readonly definition: RawJson;
  readonly hiddenBy?: HiddenBy;
  /** Place of its backend in an explicit order of priority, 0 first: it decides what several backends claim. */
  readonly rank?: number;
  /** Clients reach it at one door only: `front` is the endpoint's own path, `direct` the second one. Absent: at both. */
  readonly servedAt?: 'front' | 'direct';
  /**
   * A virtual entry that only leads to others: policy decides the calls it makes inside, each under its real name, and of
   * the entry itself only what forbids it by name.
   */
  readonly isDispatcher?: true;
  /** Such an entry that makes one call at most: who counts calls has counted that one with it. */
  readonly makesOneCall?: true;
  /** Stands for a name that nobody has, when `authorize` is asked about one; never listed, never run. */
  readonly isMissing?: true;
  /** Of a resource that no list names: the backends that might have it; more than one, so none was asked. */
  readonly mayBeOf?: readonly string[];
  /** What changed the entry on its way, in order, e.g. `['override.name', 'prefix']`; shown by `vmcp explain`. */
  readonly shapedBy: readonly string[];
  /** Arguments mirrored into `Mcp-Param-*` headers, compiled when the list was read (MCP 2026-07-28, `x-mcp-header`). */
  readonly mirrored?: readonly MirroredParam[];
  /** A virtual entry answers itself; without it the call goes to backend `workload`. */
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
