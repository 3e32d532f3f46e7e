import { type Call, type CallRecord, type CatalogEntry, type JsonObject, recordOf } from '@toolmgr/core';
import type { Capture } from './capture.ts';
import type { AuditEvent, Origin, Outcome } from './event.ts';
import { type EventType, typeOfMethod } from './event-types.ts';

/** The configuration for creating events. */
export interface EventContext {
  readonly detectApplicationErrors: boolean;
  readonly capture: Capture;
  isWanted(type: EventType): boolean;
}

const OUTCOMES = {
  ok: 'success',
  toolError: 'success', // the server answered; the event has `tool_error`
  refused: 'denied',
  error: 'application_error',
  fault: 'error',
  cancelled: 'failure',
  abandoned: 'failure',
} as const satisfies Record<CallRecord['outcome'], Outcome>;

/** The event of a settled call; `undefined` when its type is excluded. Only copies data: it runs before the response. */
export function eventFromCall(record: CallRecord, context: EventContext): AuditEvent | undefined {
  const { call, error } = record;
  const type = typeOfMethod(call.method);
  if (!context.isWanted(type)) return undefined;
  const client = call.client.clientInfo;
  return {
    type,
    outcome: outcomeOf(record, context.detectApplicationErrors),
    loggedAtMs: record.startedMs + record.durationMs,
    requestId: call.id,
    origin: originOf(call),
    caller: call.caller,
    clientName: textOf(client?.name),
    clientVersion: textOf(client?.version),
    target: targetOf(call),
    durationMs: record.durationMs,
    errorCode: error?.code,
    errorMessage: error?.message,
    extra: extraOf(record),
    trace: traceOf(call),
    request: context.capture.callRequest(call),
    response: context.capture.callResponse(record.result),
  };
}

function outcomeOf({ outcome, refusal, error }: CallRecord, detectApplicationErrors: boolean): Outcome {
  if (outcome === 'refused' && refusal?.status === 429) return 'failure';
  if (outcome !== 'error') return OUTCOMES[outcome];
  if (error?.status !== undefined && error.status >= 400) return error.status < 500 ? 'failure' : 'error';
  return detectApplicationErrors ? 'application_error' : 'success';
}

/** `undefined` for inner calls and calls of an embedder. */
function originOf(call: Call): Origin | undefined {
  const { inbound } = call;
  if (inbound === undefined || call.parent !== undefined) return undefined;
  const { headers } = inbound;
  const record = recordOf(call);
  return {
    address: record?.remoteAddress ?? inbound.remoteAddress,
    userAgent: headers['user-agent'],
    forwardedFor: headers['x-forwarded-for'],
    sessionId: record?.session?.id,
    isStream: record?.isStream === true,
  };
}

const KINDS = {
  tool: 'tool',
  prompt: 'prompt',
  resource: 'resource',
  template: 'resource',
} as const satisfies Record<CatalogEntry['kind'], string>;

function targetOf({ inbound, method, name, target }: Call): JsonObject {
  return { endpoint: inbound?.path, method, name, type: KINDS[target.kind] };
}

function extraOf({ call, rounds, outcome, resultBytes, refusal }: CallRecord): JsonObject {
  return {
    response_size_bytes: resultBytes,
    backend_name: call.target.backend,
    parent_name: call.parent?.name,
    rounds: rounds > 1 ? rounds : undefined,
    tool_error: outcome === 'toolError' ? true : undefined,
    refusal: refusal?.reason,
    cancelled: outcome === 'cancelled' ? true : undefined,
    abandoned: outcome === 'abandoned' ? true : undefined,
  };
}

/** The trace id of the telemetry plugin, else the client's from the header or the message (MCP 2026-07-28). */
export function traceOf(call: Call): string | undefined {
  const record = recordOf(call);
  const known = record?.traceId ?? call.inbound?.headers.traceparent;
  if (known !== undefined) return known;
  const meta = record?.message?.given?._meta;
  return typeof meta === 'object' && meta !== null && 'traceparent' in meta ? textOf(meta.traceparent) : undefined;
}

/** The value when it is a string: client data can have any type. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
