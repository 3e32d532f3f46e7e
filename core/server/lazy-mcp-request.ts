import type { ClientContext } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject } from '../contract/json.ts';
import type { RawObject } from '../json/raw-json.ts';
import { cancellationOf } from '../timing/cancel.ts';
import type { McpRequest } from './mcp-request.ts';

/**
 * One request of a client as the flow takes it.
 *
 * A class, not a literal with getters: V8 makes each such literal a hidden class of its own, which lives until the next
 * full collection and keeps the getter, and so the whole request, alive until then.
 */
export class LazyMcpRequest implements McpRequest {
  readonly method: string;
  readonly params: RawObject;
  readonly given: JsonObject | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  readonly inbound: Inbound;
  readonly #cancel: Cancellation | undefined;

  /** Without a `cancel` of its own a request is cancelled when its connection is gone. */
  constructor(
    { method, params, given }: { readonly method: string; readonly params: RawObject; readonly given?: JsonObject },
    { caller, inbound }: { readonly caller: Caller; readonly inbound: Inbound },
    client: ClientContext,
    cancel?: Cancellation,
  ) {
    this.method = method;
    this.params = params;
    this.given = given;
    this.caller = caller;
    this.client = client;
    this.inbound = inbound;
    this.#cancel = cancel;
  }

  /** Made on first use, like the inbound's own. */
  get cancel(): Cancellation {
    return this.#cancel ?? this.inbound.cancel ?? cancellationOf(this.inbound.signal);
  }
}
