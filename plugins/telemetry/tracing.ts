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
import type { Facts } from './attribute-table.ts';
import type { CallEnd, RequestEnd } from './ends.ts';
import { callFacts, requestFacts } from './facts.ts';
import { methodName } from './method-name.ts';
import { carriedBy, contextFrom, metaWith } from './trace-context.ts';

/** What the spans of one gateway are made with. */
export interface TracingParts {
  readonly tracer: Tracer;
  /** Names facts as attributes. */
  naming(facts: Facts): Attributes;
  /** On every span: environment variables, the name of the gateway. */
  readonly everywhere: Attributes;
  now(): number;
}

/** A call on its way to its target. */
export interface Leg {
  /** The call to send: it carries the trace on. */
  readonly call: Call;
  /** Absent when the trace is not sampled. */
  readonly span: Span | undefined;
}

/** The spans of one gateway: one per request, below it one per call to a target. */
export interface Tracing {
  leaves(call: Call): Leg;
  /** `transport` is that of the backend, when it has one. */
  arrived(leg: Leg, end: CallEnd, transport: string | undefined): void;
  requestEnded(end: RequestEnd): void;
}

/**
 * Makes the spans of one gateway.
 *
 * The span of a request begins, backwards in time, when the first of its calls leaves or when it ends: only then is its
 * body known, and with it the parent that `_meta` names. Its parent decides about sampling; of a trace that is not
 * sampled there is no span below it, but its context goes on, so that nobody behind the gateway samples it either.
 */
export function createTracing({ tracer, naming, everywhere, now }: TracingParts): Tracing {
  // not weak: entries leave with their request, and a collector of garbage has less to do
  const requests = new Map<Inbound, Context>();
  const inside = new WeakMap<Call, Context>();

  const open = (inbound: Inbound, record: RequestRecord | undefined, call: Call | undefined): Context => {
    const asked = record?.call ?? call;
    const meta = record?.message?.given?._meta;
    const parent = contextFrom(inbound.headers, isObject(meta) ? meta : metaOf(asked));
    const span = tracer.startSpan(
      asked === undefined ? requestName(inbound, record) : spanName(asked),
      { kind: SpanKind.SERVER, startTime: record?.startedMs ?? now() },
      parent,
    );
    if (record !== undefined) record.traceId = span.spanContext().traceId; // joins what others write down
    const context = trace.setSpan(parent, span);
    if (record === undefined || !isOver(record)) requests.set(inbound, context);
    return context;
  };

  /** What a call belongs to: the tool of the gateway that makes it, else its request, else what its `_meta` says. */
  const around = (call: Call): Context => {
    for (let at = call.parent; at !== undefined; at = at.parent) {
      const context = inside.get(at);
      if (context !== undefined) return context;
    }
    if (call.inbound === undefined) return contextFrom({}, metaOf(call));
    return requests.get(call.inbound) ?? open(call.inbound, recordOf(call), outermost(call));
  };

  return {
    leaves(call) {
      const parent = around(call);
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
        inside.set(call, context);
        return { call, span: recorded };
      }
      const carried = carriedBy(context);
      const headers = { ...call.headers, ...carried };
      return { call: callWith(call, { headers, meta: metaWith(call.meta, carried) }), span: recorded };
    },
    arrived({ call, span }, end, transport) {
      if (span === undefined) return;
      span.setAttributes(everywhere);
      span.setAttributes(naming(callFacts(call, end, transport)));
      if (end.errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end.endedMs);
    },
    requestEnded(end) {
      const { record } = end;
      const context = requests.get(record.inbound) ?? open(record.inbound, record, record.call);
      requests.delete(record.inbound);
      const span = trace.getSpan(context);
      if (span === undefined || !span.isRecording()) return;
      span.setAttributes(everywhere);
      span.setAttributes(naming(requestFacts(end)));
      if (end.isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(record.startedMs + end.durationMs);
    },
  };
}

/** The method, of other requests the verb; with the path where the path is one of ours. */
function requestName({ method, path }: Inbound, record: RequestRecord | undefined): string {
  if (record?.message?.method !== undefined) return methodName(record.message.method);
  return record?.face === undefined ? method : `${method} ${path}`;
}

/** Whether the end of a request was told; a call may outlive it when its client has left. */
function isOver({ isGone, isStream, status, durationMs }: RequestRecord): boolean {
  return isGone || durationMs > 0 || (status !== 0 && !isStream);
}

/** `tools/call fetch`: the name in the catalogue, so that templates do not make a name per URI. */
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
