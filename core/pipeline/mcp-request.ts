import type { Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { RawObject } from '../json/raw-json.ts';

/** One decoded request from a protocol server to the pipeline. */
export interface McpRequest {
  readonly method: string;
  /** The params object with `_meta`; empty without params. */
  readonly params: RawObject;
  /** The decoded params, if available. */
  readonly given?: JsonObject | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  /** `undefined` for requests that the gateway repeats for its client. */
  readonly inbound: Inbound | undefined;
  /** The cancellation of the request. */
  readonly cancel: Cancellation;
}

/**
 * The answer to one request. `ready` is a whole result object in the client's era that is sent unchanged (cached list
 * pages; a modern one has the gateway's `serverInfo` in its `_meta`). A `result` still gets the members of the era and
 * loses reserved `_meta`.
 */
export type Answer = Reply | { readonly ready: RawJson };
