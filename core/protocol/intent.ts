import type { Asker, Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { Era } from '../contract/era.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { CatalogEntry, MirroredParam } from '../contract/tool.ts';
import type { RawObject } from './raw-json.ts';

/** One decoded request on its way from a client edge into the flow. */
export interface Intent {
  readonly method: string;
  /** The params object, `_meta` included; empty when the request had none. */
  readonly params: RawObject;
  /** The params decoded, where that was done already. */
  readonly given?: JsonObject | undefined;
  readonly caller: Caller;
  readonly asker: Asker;
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
export interface House {
  identify(inbound: Inbound): Promise<Caller | Refusal | undefined> | Caller | Refusal | undefined;
  /**
   * Answers tools/list, prompts/list, resources/list, resources/templates/list, tools/call, prompts/get,
   * resources/read and completion/complete. Never rejects for what a backend or plugin did: that is an `error`.
   */
  answer(intent: Intent): Promise<Answer>;
  /** What this gateway says about itself to one asker. */
  face(asker: Asker): Face;
  /** Decides `resources/subscribe` and listen filters: the entry behind a URI, or a refusal or error. */
  mayWatch(
    intent: Intent,
    uri: string,
  ): Promise<{ readonly entry: CatalogEntry } | Exclude<Reply, { result: unknown }>>;
  /** What stands against a call, without making it; asked before a rung of the protocol speaks of what is behind a name. */
  objection?(intent: Intent): Promise<Exclude<Reply, { result: unknown }> | undefined>;
  /** Starts watching a resource for an owner; updates arrive at `owner.sink.resourceUpdated`. Counted: one unwatch each. */
  watch(entry: CatalogEntry, uri: string, asker: Asker): Promise<void>;
  unwatch(entry: CatalogEntry, uri: string, asker: Asker): Promise<void>;
  /** Starts opening the owner's backend sessions when its capability class has no lists of its own yet. */
  welcome(asker: Asker): void;
  /** The name of a caller's own lists within a capability class; absent when lists do not depend on who asks. */
  listClass?(capabilityClass: string, caller: Caller): string;
  /** The owner has ended: its backend sessions are closed. */
  release(ownerKey: string): void;
  /** Hears which lists changed for a capability class. Returns the unsubscribe. */
  onListsChanged(listener: (change: ListsChanged) => void): () => void;
  /** Passes the client's `logging/setLevel` on to its backend sessions. */
  setLogLevel(asker: Asker, level: string): void;
  /** Tells that the client's roots changed. */
  rootsChanged(asker: Asker): void;
  /** The arguments of a tool that its `Mcp-Param-*` headers repeat, as the asker sees the tool; `undefined` for none. */
  mirrored?(name: string, asker: Asker): readonly MirroredParam[] | undefined;
}

/** Lists that differ from what clients of one capability class, or one caller among them, saw before. */
export interface ListsChanged {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
}

/** The gateway's own hello: `initialize` and `server/discover` are answered from it. */
export interface Face {
  readonly serverInfo: JsonObject;
  /** Capabilities in the shape both eras share: tools, prompts, resources, completions, logging, extensions. */
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Eras served on this endpoint. */
  readonly eras: readonly Era[];
}
