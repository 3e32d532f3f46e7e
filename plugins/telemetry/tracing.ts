import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  type Call,
  callWith,
  decodeObject,
  type Inbound,
  isObject,
  type JsonObject,
  type RequestRecord,
  recordOf,
} from '@toolmgr/core';
import type { AttributeValues } from './attribute-table.ts';
import type { CallOutcome, RequestOutcome } from './call-outcome.ts';
import { methodName } from './method-name.ts';
import { callAttributes, requestAttributes } from './span-attributes.ts';
import { contextFieldsOf, contextFrom, metaWith } from './trace-context.ts';

/** What {@link createTracing} needs. */
export interface TracingOptions {
  readonly tracer: Tracer;
  /** Names attributes. */
  naming(values: AttributeValues): Attributes;
  /** Attributes of every span: environment variables, the name of the gateway. */
  readonly commonAttributes: Attributes;
  now(): number;
}

/** A call with its span. */
export interface TracedCall {
  /** The call to send, with trace context. */
  readonly call: Call;
  /** Absent when the trace is not sampled. */
  readonly span: Span | undefined;
}

/** The spans of one gateway: one per request, with a child per call. */
export interface Tracing {
  callStarted(call: Call): TracedCall;
  /** `transport` is the backend's, if any. */
  callEnded(traced: TracedCall, end: CallOutcome, transport: string | undefined): void;
  requestEnded(end: RequestOutcome): void;
}

/**
 * Creates the spans of one gateway.
 *
 * The span of a request is created, with its real start time, at its first call or at its end: only then the body with the
 * parent in `_meta` is known. The parent decides about sampling. An unsampled trace has no child spans, but its context is
 * forwarded, so that backends do not sample it either.
 */
export function createTracing({ tracer, naming, commonAttributes, now }: TracingOptions): Tracing {
  // not weak: entries are deleted with their request, which is cheaper for garbage collection
  const requests = new Map<Inbound, Context>();
  const contextByCall = new WeakMap<Call, Context>();

  const open = (inbound: Inbound, record: RequestRecord | undefined, call: Call | undefined): Context => {
    const asked = record?.call ?? call;
    const meta = record?.message?.given?._meta;
    const parent = contextFrom(inbound.headers, isObject(meta) ? meta : metaOf(asked));
    const span = tracer.startSpan(
      asked === undefined ? requestName(inbound, record) : spanName(asked),
      { kind: SpanKind.SERVER, startTime: record?.startedMs ?? now() },
      parent,
    );
    if (record !== undefined) record.traceId = span.spanContext().traceId; // other plugins log this id
    const context = trace.setSpan(parent, span);
    if (record === undefined || !isOver(record)) requests.set(inbound, context);
    return context;
  };

  /** The parent of a call: the tool that makes it, else its request, else the context in its `_meta`. */
  const parentContextOf = (call: Call): Context => {
    for (let at = call.parent; at !== undefined; at = at.parent) {
      const context = contextByCall.get(at);
      if (context !== undefined) return context;
    }
    if (call.inbound === undefined) return contextFrom({}, metaOf(call));
    return requests.get(call.inbound) ?? open(call.inbound, recordOf(call), outermost(call));
  };

  return {
    callStarted(call) {
      const parent = parentContextOf(call);
      const isVirtual = call.target.run !== undefined;
      const sampledOut = isSampledOut(parent);
      const span = sampledOut
        ? undefined
        : tracer.startSpan(
            spanName(call),
            { kind: isVirtual ? SpanKind.INTERNAL : SpanKind.CLIENT, startTime: now() },
            parent,
          );
      const context = span === undefined ? parent : trace.setSpan(parent, span);
      const recorded = span?.isRecording() === true ? span : undefined;
      if (isVirtual) {
        contextByCall.set(call, context);
        return { call, span: recorded };
      }
      const contextFields = contextFieldsOf(context);
      const headers = { ...call.headers, ...contextFields };
      return { call: callWith(call, { headers, meta: metaWith(call.meta, contextFields) }), span: recorded };
    },
    callEnded({ call, span }, end, transport) {
      if (span === undefined) return;
      span.setAttributes(commonAttributes);
      span.setAttributes(naming(callAttributes(call, end, transport)));
      if (end.errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end.endedMs);
    },
    requestEnded(end) {
      const { record } = end;
      const context = requests.get(record.inbound) ?? open(record.inbound, record, record.call);
      requests.delete(record.inbound);
      const span = trace.getSpan(context);
      if (span === undefined || !span.isRecording()) return;
      span.setAttributes(commonAttributes);
      span.setAttributes(naming(requestAttributes(end)));
      if (end.isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(record.startedMs + end.durationMs);
    },
  };
}

/** The MCP method, else the HTTP method, with the path of a known route. */
function requestName({ method, path }: Inbound, record: RequestRecord | undefined): string {
  if (record?.message?.method !== undefined) return methodName(record.message.method);
  return record?.servedBy === undefined ? method : `${method} ${path}`;
}

/** Whether a request has ended; a call may outlive it when the client disconnects. */
function isOver({ isGone, isStream, status, durationMs }: RequestRecord): boolean {
  return isGone || durationMs > 0 || (status !== 0 && !isStream);
}

/** `tools/call fetch`, with the catalogue name, so that a template has one name for all URIs. */
function spanName({ method, target }: Call): string {
  return `${method} ${target.key}`;
}

function isSampledOut(context: Context): boolean {
  const parent = trace.getSpanContext(context);
  return parent !== undefined && (parent.traceFlags & TraceFlags.SAMPLED) === 0;
}

function outermost(call: Call): Call {
  let at = call;
  while (at.parent !== undefined) at = at.parent;
  return at;
}

function metaOf(call: Call | undefined): JsonObject | undefined {
  return call?.meta === undefined ? undefined : decodeObject(call.meta);
}
