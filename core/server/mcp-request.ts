import type { ClientContext, Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { Era } from '../contract/era.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { CatalogEntry, MirroredParam } from '../contract/tool.ts';
import type { RawObject } from '../json/raw-json.ts';

/** One decoded request on its way from a client edge into the flow. */
export interface McpRequest {
  readonly method: string;
  /** The params object, `_meta` included; empty when the request had none. */
  readonly params: RawObject;
  /** The params decoded, where that was done already. */
  readonly given?: JsonObject | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  readonly inbound: Inbound;
  /** Whether anybody still waits for the answer. */
  readonly cancel: Cancellation;
}

/**
 * The end of one request. `ready` is a whole result object in the client's era, sent as it is (pre-serialised lists;
 * a modern one has the gateway's `serverInfo` in its `_meta`); a `result` still gets the era's own members and loses
 * reserved `_meta`.
 */
export type Answer = Reply | { readonly ready: RawJson };

/** What the client edges need from the floors above them; assembly joins the two. */
export interface GatewayService {
  identify(inbound: Inbound): Promise<Caller | Refusal | undefined> | Caller | Refusal | undefined;
  /**
   * Answers tools/list, prompts/list, resources/list, resources/templates/list, tools/call, prompts/get,
   * resources/read and completion/complete. Never rejects for what a backend or plugin did: that is an `error`.
   */
  answer(request: McpRequest): Promise<Answer>;
  /** What this gateway says about itself to one client. */
  face(client: ClientContext): ServerDescription;
  /** Decides `resources/subscribe` and listen filters: the entry behind a URI, or a refusal or error. */
  mayWatch(
    request: McpRequest,
    uri: string,
  ): Promise<{ readonly entry: CatalogEntry } | Exclude<Reply, { result: unknown }>>;
  /** What stands against a call, without making it; asked before a rung of the protocol speaks of what is behind a name. */
  objection?(request: McpRequest): Promise<Exclude<Reply, { result: unknown }> | undefined>;
  /** Starts watching a resource for an owner; updates arrive at `owner.sink.resourceUpdated`. Counted: one unwatch each. */
  watch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void>;
  unwatch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void>;
  /** Starts opening the owner's backend sessions when its capability class has no lists of its own yet. */
  prepareOwner(client: ClientContext): void;
  /** The name of a caller's own lists within a capability class; absent when lists do not depend on who asks. */
  listClass?(capabilityClass: string, caller: Caller): string;
  /** The owner has ended: its backend sessions are closed. */
  release(ownerKey: string): void;
  /** Hears which lists changed for a capability class. Returns the unsubscribe. */
  onListsChanged(listener: (change: ListsChanged) => void): () => void;
  /** Passes the client's `logging/setLevel` on to its backend sessions. */
  setLogLevel(client: ClientContext, level: string): void;
  /** Tells that the client's roots changed. */
  rootsChanged(client: ClientContext): void;
  /** The arguments of a tool that its `Mcp-Param-*` headers repeat, as the client sees the tool; `undefined` for none. */
  mirrored?(name: string, client: ClientContext): readonly MirroredParam[] | undefined;
}

/** Lists that differ from what clients of one capability class, or one caller among them, saw before. */
export interface ListsChanged {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
}

/** The gateway's own hello: `initialize` and `server/discover` are answered from it. */
export interface ServerDescription {
  readonly serverInfo: JsonObject;
  /** Capabilities in the shape both eras share: tools, prompts, resources, completions, logging, extensions. */
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Eras served on this endpoint. */
  readonly eras: readonly Era[];
}
