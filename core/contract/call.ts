import type { UserActionRequired } from '../errors.ts';
import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { EntryKind, EntryOf } from './catalog-entry.ts';
import type { ClientContext } from './client-context.ts';
import type { Inbound } from './inbound.ts';
import type { JsonObject, RawJson, RawMembers } from './json.ts';
import type { Refusal } from './refusal.ts';
import type { WireError } from './wire-error.ts';

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
  /** The call before it was changed; absent for an unchanged one. A `requestState` is bound to what the client sent. */
  readonly asked?: Call | undefined;
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
export type Reply =
  /** `requires`: why the call was not made; `result` says it in words. A virtual entry may throw it for its own client. */
  | { readonly result: CallResult; readonly requires?: UserActionRequired }
  | { readonly refusal: Refusal }
  | { readonly error: WireError };

/** Runs the call at its target. The pipeline wraps it once, at boot. */
export type Dispatch = (call: Call) => Promise<CallResult>;

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

/** What a call may name; with `run` it is a virtual entry. */
export type CatalogEntry<K extends EntryKind = EntryKind> = EntryOf<Call, CallResult, K>;

export type ToolEntry = CatalogEntry<'tool'>;
export type PromptEntry = CatalogEntry<'prompt'>;
export type ResourceEntry = CatalogEntry<'resource'>;
export type TemplateEntry = CatalogEntry<'template'>;
