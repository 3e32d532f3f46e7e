import type { JsonObject, RequestRecord } from '@toolmgr/core';
import type { AuditEvent, Outcome } from './event.ts';
import { type EventContext, textOf } from './event-from-call.ts';
import { type EventType, typeOfRequest } from './event-types.ts';

/**
 * The event of a settled request; `undefined` when its type is excluded, and for a request with a call, which has its own
 * event. Event streams have theirs when they start.
 */
export function eventFromRequest(record: RequestRecord, context: EventContext): AuditEvent | undefined {
  if (record.call !== undefined) return undefined;
  const type = typeOfRequest(record);
  if (type === 'sse_connection' && record.isStream) return undefined;
  return context.isWanted(type) ? eventOf(record, type, context) : undefined;
}

/** The event at the start of an event stream, which may last for days; other streamed responses have theirs at the end. */
export function eventFromStream(record: RequestRecord, context: EventContext): AuditEvent | undefined {
  if (record.call !== undefined || typeOfRequest(record) !== 'sse_connection') return undefined;
  return context.isWanted('sse_connection') ? eventOf(record, 'sse_connection', context) : undefined;
}

function eventOf(record: RequestRecord, type: EventType, context: EventContext): AuditEvent {
  const { inbound, clientInfo, message, error, startedMs, durationMs } = record;
  const { headers } = inbound;
  const meta = message?.given?._meta as JsonObject | null | undefined;
  return {
    type,
    outcome: outcomeOf(record, context.detectApplicationErrors),
    loggedAtMs: startedMs + durationMs,
    requestId: record.id,
    origin: {
      address: record.remoteAddress,
      userAgent: headers['user-agent'],
      forwardedFor: headers['x-forwarded-for'],
      sessionId: record.session?.id,
      isStream: record.isStream,
    },
    caller: record.caller,
    clientName: textOf(clientInfo?.name),
    clientVersion: textOf(clientInfo?.version),
    target: targetOf(record),
    durationMs,
    errorCode: error?.code,
    errorMessage: error?.message,
    extra: extraOf(record),
    trace: record.traceId ?? headers.traceparent ?? textOf(meta?.traceparent),
    request: context.capture.request(record),
    response: context.capture.response(record),
  };
}

function outcomeOf({ status, isStream, isGone, error }: RequestRecord, detectApplicationErrors: boolean): Outcome {
  if (status === 401 || status === 403) return 'denied';
  if (status >= 500) return 'error';
  if (status === 0 || status >= 400 || (isGone && !isStream)) return 'failure';
  return error !== undefined && detectApplicationErrors ? 'application_error' : 'success';
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
  ['resources/subscribe', 'resource'],
  ['resources/unsubscribe', 'resource'],
]);

/** The requested name, which need not exist. */
function targetOf({ inbound, message }: RequestRecord): JsonObject {
  const method = message?.method ?? inbound.method;
  const type = KINDS.get(method) ?? 'endpoint';
  const name = type === 'endpoint' ? undefined : (textOf(message?.given?.name) ?? textOf(message?.given?.uri));
  return { endpoint: inbound.path, method, name, type };
}

function extraOf({ status, responseBytes, refusal, isGone }: RequestRecord): JsonObject {
  return {
    http_status: status === 0 ? undefined : status,
    response_size_bytes: responseBytes,
    refusal,
    client_gone: isGone ? true : undefined,
  };
}
