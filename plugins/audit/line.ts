import { hash, randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import type { Captured } from './capture.ts';
import type { AuditConfig } from './config.ts';
import { delegationOf } from './delegation.ts';
import type { AuditEvent, Origin } from './event.ts';
import { valueFromBeginning } from './json-beginning.ts';
import { redacted, redactedText } from './redact.ts';

const WORDS = 256; // vmcp endpoint: jsonrpc_error_message is cut here, and so is what a client says of itself
const NAME_CHARACTERS = 1024; // of a tool, prompt or resource
const SESSION_HASH_CHARACTERS = 16;

/**
 * One audit event as a JSON line with its line break.
 *
 * Shape: `time, level, msg, audit_id, type, logged_at, outcome, component, source, subjects, delegation?, target,
 * metadata.extra, data?`. `source.extra.request_id` is the same in every line of one request: calls, inner calls and
 * workflow steps. Every text that came from outside is cut and has its secrets masked.
 * Source: vmcp spec §2 audit.
 */
export function auditLine(event: AuditEvent, config: Pick<AuditConfig, 'component' | 'maxDelegationDepth'>): string {
  const loggedAt = new Date(event.loggedAtMs).toISOString();
  const { caller } = event;
  const line: JsonObject = {
    time: loggedAt,
    level: 'AUDIT',
    msg: 'audit_event',
    audit_id: randomUUID(),
    type: event.type,
    logged_at: loggedAt,
    outcome: event.outcome,
    component: config.component,
    source: sourceOf(event.requestId, event.origin),
    subjects: subjectsOf(event),
    delegation: caller === undefined ? undefined : delegationOf(caller, config.maxDelegationDepth),
    target: safeTexts(event.target, NAME_CHARACTERS),
    metadata: { extra: extraOf(event) },
    data: dataOf(event),
  };
  return `${JSON.stringify(line)}\n`;
}

/** The line that says how many events were lost because the sink was too slow or broken. */
export function droppedLine(dropped: number, nowMs: number, component: string): string {
  const time = new Date(nowMs).toISOString();
  return `${JSON.stringify({ time, level: 'AUDIT', msg: 'audit_dropped', logged_at: time, component, dropped })}\n`;
}

/** A session id opens the session of an anonymous client: its hash joins lines as well. */
function sourceOf(requestId: string, origin: Origin | undefined): JsonObject {
  if (origin === undefined) return { type: 'local', extra: { request_id: requestId } };
  const { address, userAgent, forwardedFor, sessionId } = origin;
  return {
    type: 'network',
    value: address?.replace(IPV4_MAPPED, ''),
    extra: {
      request_id: requestId,
      user_agent: safe(userAgent, WORDS),
      forwarded_for: safe(forwardedFor, WORDS),
      session_id: sessionId === undefined ? undefined : hash('sha256', sessionId).slice(0, SESSION_HASH_CHARACTERS),
    },
  };
}

const IPV4_MAPPED = /^::ffff:(?=\d+\.)/i;

function subjectsOf({ caller, clientName, clientVersion }: AuditEvent): JsonObject {
  const client = { client_name: safe(clientName, WORDS), client_version: safe(clientVersion, WORDS) };
  if (caller === undefined) return { user: 'anonymous', ...client };
  const named = [caller.claims.name, caller.claims.preferred_username, caller.claims.email];
  const user = named.find((name): name is string => typeof name === 'string' && name !== '');
  return { user: user ?? caller.name ?? caller.subject, user_id: caller.subject, ...client };
}

function extraOf({ origin, durationMs, errorCode, errorMessage, extra, trace }: AuditEvent): JsonObject {
  return {
    duration_ms: durationMs === undefined ? undefined : Math.round(durationMs * 1000) / 1000,
    transport: origin === undefined ? undefined : origin.isStream ? 'sse' : 'http',
    ...safeTexts(extra, WORDS),
    jsonrpc_error_code: errorCode,
    jsonrpc_error_message: safe(errorMessage, WORDS),
    trace_id: TRACE.exec(trace ?? '')?.[1],
  };
}

/** A trace id, or the `traceparent` around one (W3C trace context §3.2). */
const TRACE = /^(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:$|-[0-9a-f]{16}-)/;

function dataOf({ request, response }: AuditEvent): JsonObject | undefined {
  if (request === undefined && response === undefined) return undefined;
  return {
    request: decodedValue(request),
    request_omitted: request?.isCut === true ? true : undefined,
    response: innerOf(decodedValue(response)),
    response_truncated: response?.isCut === true ? true : undefined,
  };
}

function decodedValue(captured: Captured | undefined): JsonValue | undefined {
  if (captured?.bytes === undefined) return undefined;
  const value = valueFromBeginning(captured.bytes.toString('utf8'));
  return value === undefined ? undefined : redacted(value);
}

/** Of a whole JSON-RPC answer its result or error. */
function innerOf(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value)) return value;
  return value.result ?? value.error ?? undefined;
}

function safeTexts(given: JsonObject, most: number): JsonObject {
  const texts: Record<string, JsonValue | undefined> = {};
  for (const key in given) {
    const value = given[key];
    texts[key] = typeof value === 'string' ? safe(value, most) : value;
  }
  return texts;
}

/** Masked first: a secret that is cut has no shape any more. */
function safe(text: string | undefined, most: number): string | undefined {
  if (text === undefined || HARMLESS.has(text)) return text;
  const masked = redactedText(text.slice(0, most + LOOK_AHEAD)).slice(0, most);
  if (masked === text && text.length <= SHORT) {
    if (HARMLESS.size >= MAX_HARMLESS) HARMLESS.clear();
    HARMLESS.add(text);
  }
  return masked;
}

/** Short texts without a secret, and not cut: the same names of tools, backends and clients come in every line. */
const HARMLESS = new Set<string>();
const MAX_HARMLESS = 4096;
const SHORT = 128; // under every cut

const LOOK_AHEAD = 4096; // a longer text is cut before it is looked at
