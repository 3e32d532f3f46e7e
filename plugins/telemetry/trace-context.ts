import { type Context, ROOT_CONTEXT, type TextMapGetter, type TextMapSetter, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { encode, type JsonObject, type RawJson, RawObject } from '@toolmgr/core';

/** The W3C fields, in headers and as reserved `_meta` keys alike (MCP 2026-07-28). */
const FIELDS = ['traceparent', 'tracestate', 'baggage'] as const;
type Field = (typeof FIELDS)[number];

/** Trace context on its way out. */
export type Carried = Partial<Record<Field, string>>;

/** Longer fields are not looked at: W3C Baggage keeps 8192 bytes, Trace Context 512 characters. */
const MAX_CHARACTERS = { traceparent: 256, tracestate: 4_096, baggage: 8_192 } as const;

/** What may stand in a header. A field that has anything else is left out whole: nothing of a client begins a header of its own. */
const VISIBLE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});

/**
 * The context that a client sent. A sound parent in `_meta` wins over the headers, which may be those of a proxy in
 * between; state that comes without its parent belongs to nobody.
 */
export function contextFrom(
  headers: Readonly<Record<string, string | undefined>>,
  meta: JsonObject | undefined,
): Context {
  const hasHeader = headers.traceparent !== undefined || headers.baggage !== undefined;
  if (!hasHeader && meta?.traceparent === undefined && meta?.baggage === undefined) return ROOT_CONTEXT;
  const baggage = taken('baggage', meta?.baggage ?? headers.baggage);
  const told = extracted(meta, baggage);
  return trace.getSpanContext(told) === undefined ? extracted(headers, baggage) : told;
}

function extracted(from: Readonly<Partial<Record<Field, unknown>>> | undefined, baggage: Carried): Context {
  const chosen = { ...taken('traceparent', from?.traceparent), ...taken('tracestate', from?.tracestate), ...baggage };
  return propagator.extract(ROOT_CONTEXT, chosen, GETTER);
}

function taken(field: Field, value: unknown): Carried {
  if (typeof value !== 'string' || value === '' || value.length > MAX_CHARACTERS[field]) return {};
  return { [field]: value };
}

/** The fields that carry a context on; empty when it has none. */
export function carriedBy(context: Context): Carried {
  const carried: Carried = {};
  propagator.inject(context, carried, SETTER);
  return carried;
}

/** `_meta` of a call with the fields of the gateway in place of the client's. */
export function metaWith(meta: RawJson | undefined, carried: Carried): RawJson {
  if (meta === undefined) return Buffer.from(JSON.stringify(carried));
  let members = RawObject.parse(meta).without(...FIELDS);
  for (const field of FIELDS) {
    const value = carried[field];
    if (value !== undefined) members = members.with(field, encode(value));
  }
  return members.toBytes();
}

const GETTER: TextMapGetter<Carried> = {
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => carrier[key as Field],
};

const SETTER: TextMapSetter<Carried> = {
  set(carrier, key, value) {
    if (VISIBLE.test(value)) carrier[key as Field] = value;
  },
};
