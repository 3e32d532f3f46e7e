import { type Context, ROOT_CONTEXT, type TextMapGetter, type TextMapSetter, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { encode, type JsonObject, type RawJson, RawObject } from '@toolmgr/core';

/** The W3C fields, which are both headers and reserved `_meta` keys (MCP 2026-07-28). */
const FIELDS = ['traceparent', 'tracestate', 'baggage'] as const;
type Field = (typeof FIELDS)[number];

/** The fields of an outgoing trace context. */
export type ContextFields = Partial<Record<Field, string>>;

/** Longer fields are ignored: W3C Baggage allows 8192 bytes, Trace Context 512 characters. */
const MAX_CHARACTERS = { traceparent: 256, tracestate: 4_096, baggage: 8_192 } as const;

/** Valid header values. Other fields are omitted, so that a client cannot inject a header. */
const VISIBLE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});

/**
 * The trace context of a client. A valid parent in `_meta` takes precedence over headers, which may come from a proxy; state
 * without a parent is ignored.
 */
export function contextFrom(
  headers: Readonly<Record<string, string | undefined>>,
  meta: JsonObject | undefined,
): Context {
  const hasHeader = headers.traceparent !== undefined || headers.baggage !== undefined;
  if (!hasHeader && meta?.traceparent === undefined && meta?.baggage === undefined) return ROOT_CONTEXT;
  const baggage = validField('baggage', meta?.baggage ?? headers.baggage);
  const fromMeta = extractContext(meta, baggage);
  return trace.getSpanContext(fromMeta) === undefined ? extractContext(headers, baggage) : fromMeta;
}

function extractContext(from: Readonly<Partial<Record<Field, unknown>>> | undefined, baggage: ContextFields): Context {
  const chosen = {
    ...validField('traceparent', from?.traceparent),
    ...validField('tracestate', from?.tracestate),
    ...baggage,
  };
  return propagator.extract(ROOT_CONTEXT, chosen, GETTER);
}

function validField(field: Field, value: unknown): ContextFields {
  if (typeof value !== 'string' || value === '' || value.length > MAX_CHARACTERS[field]) return {};
  return { [field]: value };
}

/** The fields of a context; empty without a context. */
export function contextFieldsOf(context: Context): ContextFields {
  const contextFields: ContextFields = {};
  propagator.inject(context, contextFields, SETTER);
  return contextFields;
}

/** `_meta` of a call with the fields of the gateway instead of the client's. */
export function metaWith(meta: RawJson | undefined, contextFields: ContextFields): RawJson {
  if (meta === undefined) return Buffer.from(JSON.stringify(contextFields));
  let members = RawObject.parse(meta).without(...FIELDS);
  for (const field of FIELDS) {
    const value = contextFields[field];
    if (value !== undefined) members = members.with(field, encode(value));
  }
  return members.toBytes();
}

const GETTER: TextMapGetter<ContextFields> = {
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => carrier[key as Field],
};

const SETTER: TextMapSetter<ContextFields> = {
  set(carrier, key, value) {
    if (VISIBLE.test(value)) carrier[key as Field] = value;
  },
};
