import type { Asker } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject } from '../contract/json.ts';
import { cancellationOf } from './cancel.ts';
import type { Intent } from './intent.ts';
import type { RawObject } from './raw-json.ts';

/**
 * One request of a client as the flow takes it.
 *
 * A class, not a literal with getters: V8 makes each such literal a hidden class of its own, which lives until the next
 * full collection and keeps the getter, and so the whole request, alive until then.
 */
export class RequestIntent implements Intent {
  readonly method: string;
  readonly params: RawObject;
  readonly given: JsonObject | undefined;
  readonly caller: Caller;
  readonly asker: Asker;
  readonly inbound: Inbound;
  readonly #cancel: Cancellation | undefined;

  /** Without a `cancel` of its own a request is cancelled when its connection is gone. */
  constructor(
    { method, params, given }: { readonly method: string; readonly params: RawObject; readonly given?: JsonObject },
    { caller, inbound }: { readonly caller: Caller; readonly inbound: Inbound },
    asker: Asker,
    cancel?: Cancellation,
  ) {
    this.method = method;
    this.params = params;
    this.given = given;
    this.caller = caller;
    this.asker = asker;
    this.inbound = inbound;
    this.#cancel = cancel;
  }

  /** Made on first use, like the inbound's own. */
  get cancel(): Cancellation {
    return this.#cancel ?? this.inbound.cancel ?? cancellationOf(this.inbound.signal);
  }
}
