import type { Call, CallMethod, CatalogEntry } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonObject, RawJson, RawMembers } from '../contract/json.ts';
import { decodeObject, encode } from '../json/json-value.ts';
import { cancellationOf } from '../timing/cancel.ts';

/** The fields of a call; `params` and `arguments` are derived from `members`. */
export interface CallFields {
  readonly id: string;
  readonly method: CallMethod;
  readonly name: string;
  readonly target: CatalogEntry;
  readonly members: RawMembers;
  readonly meta: RawJson | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  readonly inbound?: Inbound | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly parent: Call | undefined;
  readonly round: number;
  readonly backendState: string | undefined;
  readonly inputResponses: RawJson | undefined;
  readonly cancel: Cancellation;
  /** `params.arguments`, if already decoded. */
  readonly decoded?: JsonObject | undefined;
  readonly asked?: Call | undefined;
}

/** What a tap may change in a call. New `arguments` are encoded once; other params stay raw. */
export interface CallChanges
  extends Partial<Omit<CallFields, 'id' | 'method' | 'members' | 'parent' | 'inbound' | 'decoded' | 'asked'>> {
  readonly arguments?: JsonObject;
  /** All params without `_meta`, still raw. */
  readonly members?: RawMembers;
  readonly signal?: AbortSignal;
}

/** Makes a call from its fields. */
export function createCall(fields: CallFields): Call {
  return new CallValue(fields);
}

/** A copy of `call` with changes. */
export function callWith(call: Call, changes: CallChanges): Call {
  const { arguments: argumentsValue, signal, members: given, ...rest } = changes;
  const base = given ?? call.members;
  const members = argumentsValue === undefined ? base : base.with('arguments', encode(argumentsValue));
  return new CallValue({
    id: call.id,
    method: call.method,
    name: call.name,
    target: call.target,
    meta: call.meta,
    caller: call.caller,
    client: call.client,
    inbound: call.inbound,
    headers: call.headers,
    parent: call.parent,
    round: call.round,
    backendState: call.backendState,
    inputResponses: call.inputResponses,
    cancel: signal === undefined ? call.cancel : cancellationOf(signal),
    ...rest,
    members,
    decoded: members === call.members && call instanceof CallValue ? call.decoded : undefined,
    asked: call.asked ?? call,
  });
}

/** One class for all calls, so that the hot path stays monomorphic; values are decoded on first read. */
class CallValue implements Call {
  readonly id: string;
  readonly method: CallMethod;
  readonly name: string;
  readonly target: CatalogEntry;
  readonly members: RawMembers;
  readonly meta: RawJson | undefined;
  readonly caller: Caller;
  readonly client: ClientContext;
  readonly inbound: Inbound | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly parent: Call | undefined;
  readonly round: number;
  readonly backendState: string | undefined;
  readonly inputResponses: RawJson | undefined;
  readonly cancel: Cancellation;
  readonly asked: Call | undefined;
  #arguments: JsonObject | undefined;

  constructor(fields: CallFields) {
    this.id = fields.id;
    this.method = fields.method;
    this.name = fields.name;
    this.target = fields.target;
    this.members = fields.members;
    this.meta = fields.meta;
    this.caller = fields.caller;
    this.client = fields.client;
    this.inbound = fields.inbound;
    this.headers = fields.headers;
    this.parent = fields.parent;
    this.round = fields.round;
    this.backendState = fields.backendState;
    this.inputResponses = fields.inputResponses;
    this.cancel = fields.cancel;
    this.asked = fields.asked;
    this.#arguments = fields.decoded;
  }

  /** The arguments, if they were decoded. */
  get decoded(): JsonObject | undefined {
    return this.#arguments;
  }

  get signal(): AbortSignal {
    return this.cancel.signal;
  }

  get params(): RawJson {
    return this.members.toBytes();
  }

  get arguments(): JsonObject {
    if (this.#arguments !== undefined) return this.#arguments;
    const raw = this.members.get('arguments');
    this.#arguments = raw === undefined ? {} : (decodeObject(raw) ?? {});
    return this.#arguments;
  }
}
