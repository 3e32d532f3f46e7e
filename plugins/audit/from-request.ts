import type { JsonObject, RequestRecord } from '@toolmgr/core';
import type { AuditEvent, Outcome } from './event.ts';
import { type EventType, typeOfRequest } from './event-types.ts';
import { type Making, textOf } from './from-call.ts';

/**
 * The event of a settled request; `undefined` when its type is not wanted, and for a request that made a call: that
 * one has its own event, once for all its rounds. Streams that say nothing but events had theirs when they began.
 */
export function eventFromRequest(record: RequestRecord, making: Making): AuditEvent | undefined {
  if (record.call !== undefined) return undefined;
  const type = typeOfRequest(record);
  if (type === 'sse_connection' && record.isStream) return undefined;
  return making.isWanted(type) ? eventOf(record, type, making) : undefined;
}

/** The event of an event stream that begins and may last for days; other answers that became streams have theirs at the end. */
export function eventFromStream(record: RequestRecord, making: Making): AuditEvent | undefined {
  if (record.call !== undefined || typeOfRequest(record) !== 'sse_connection') return undefined;
  return making.isWanted('sse_connection') ? eventOf(record, 'sse_connection', making) : undefined;
}

function eventOf(record: RequestRecord, type: EventType, making: Making): AuditEvent {
  const { inbound, clientInfo, message, error, startedMs, durationMs } = record;
  const { headers } = inbound;
  const meta = message?.given?._meta as JsonObject | null | undefined;
  return {
    type,
    outcome: outcomeOf(record, making.detectApplicationErrors),
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
    request: making.capture.request(record),
    response: making.capture.response(record),
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

/** What was asked for, by the request's own word: nothing of that name need exist. */
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
