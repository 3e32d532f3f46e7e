import type { Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
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
