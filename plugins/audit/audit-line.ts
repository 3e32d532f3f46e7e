import { randomUUID } from 'node:crypto';
import type { Caller, JsonObject, JsonValue } from '@toolmgr/core';
import { parsePartialJson, redacted } from '@toolmgr/plugins/kit/secrets';
import type { Captured } from './capture.ts';
import type { AuditConfig } from './config.ts';
import { delegationOf } from './delegation.ts';
import type { AuditEvent, Origin } from './event.ts';
import { createRedactedTexts, type RedactedTexts } from './redacted-text.ts';

const MAX_TEXT_CHARACTERS = 256; // maximum of jsonrpc_error_message and of texts from clients
const MAX_NAME_CHARACTERS = 1024; // of a tool, prompt or resource

/** Builds the lines of the audit log, each with a line break. */
export interface AuditLines {
  /**
   * One audit event.
   *
   * Shape: `time, level, msg, audit_id, type, logged_at, outcome, component, source, subjects, delegation?, target,
   * metadata.server?,
   * metadata.extra, data?`. `source.extra.request_id` is the same in every line of one request: calls, inner calls and
   * workflow steps. Untrusted texts are cut, and their secrets masked.
   * Source: vmcp spec §2 audit.
   */
  of(event: AuditEvent): string;
  /** The line with the number of events that were dropped because the sink was too slow or failed. */
  dropped(events: number, nowMs: number): string;
}

/**
 * Lines are concatenated from cached texts: building objects for `JSON.stringify` took a tenth of the time of a call.
 */
export function createAuditLines(
  config: Pick<AuditConfig, 'component' | 'metadata' | 'maxDelegationDepth'>,
): AuditLines {
  const texts = createRedactedTexts();
  const component = JSON.stringify(config.component);
  const server = Object.keys(config.metadata).length === 0 ? '' : `"server":${JSON.stringify(config.metadata)},`;
  const callers = new WeakMap<Caller, CallerText>();

  const textOf = (caller: Caller): CallerText => {
    const known = callers.get(caller);
    if (known !== undefined) return known;
    const made = { subject: subjectOf(caller), delegation: delegationMember(caller, config.maxDelegationDepth) };
    callers.set(caller, made);
    return made;
  };

  return {
    of(event) {
      const at = texts.time(event.loggedAtMs);
      const caller = event.caller === undefined ? ANONYMOUS : textOf(event.caller);
      return (
        `{"time":"${at}","level":"AUDIT","msg":"audit_event","audit_id":"${event.auditId ?? randomUUID()}","type":"${event.type}"` +
        `,"logged_at":"${at}","outcome":"${event.outcome}","component":${component}` +
        `,"source":${sourceOf(event.requestId, event.origin, texts)}` +
        `,"subjects":{${caller.subject}${clientOf(event, texts)}}${caller.delegation}` +
        `,"target":{${texts.members(event.target, MAX_NAME_CHARACTERS)}}` +
        `,"metadata":{${server}"extra":{${extraOf(event, texts)}}}${dataOf(event)}}\n`
      );
    },
    dropped(events, nowMs) {
      const at = texts.time(nowMs);
      const head = `{"time":"${at}","level":"AUDIT","msg":"audit_dropped","logged_at":"${at}"`;
      return `${head},"component":${component},"dropped":${events}}\n`;
    },
  };
}

/** The encoded members that all events of a caller share. */
interface CallerText {
  readonly subject: string;
  readonly delegation: string;
}

const ANONYMOUS: CallerText = { subject: '"user":"anonymous"', delegation: '' };

function subjectOf({ claims, name, subject }: Caller): string {
  const named = [claims.name, claims.preferred_username, claims.email];
  const user = named.find((each): each is string => typeof each === 'string' && each !== '');
  return `"user":${JSON.stringify(user ?? name ?? subject)},"user_id":${JSON.stringify(subject)}`;
}

function delegationMember(caller: Caller, maxDepth: number): string {
  const delegation = delegationOf(caller, maxDepth);
  return delegation === undefined ? '' : `,"delegation":${JSON.stringify(delegation)}`;
}

function clientOf({ clientName, clientVersion }: AuditEvent, texts: RedactedTexts): string {
  return (
    texts.member('client_name', clientName, MAX_TEXT_CHARACTERS) +
    texts.member('client_version', clientVersion, MAX_TEXT_CHARACTERS)
  );
}

/** The session id is hashed, because it is a credential of anonymous clients. */
function sourceOf(requestId: string, origin: Origin | undefined, texts: RedactedTexts): string {
  const request = `"extra":{"request_id":${JSON.stringify(requestId)}`;
  if (origin === undefined) return `{"type":"local",${request}}}`;
  const { address, userAgent, forwardedFor, sessionId } = origin;
  const value = address === undefined ? '' : `,"value":${texts.address(address)}`;
  const session = sessionId === undefined ? '' : `,"session_id":"${texts.digest(sessionId)}"`;
  const claimed =
    texts.member('user_agent', userAgent, MAX_TEXT_CHARACTERS) +
    texts.member('forwarded_for', forwardedFor, MAX_TEXT_CHARACTERS);
  return `{"type":"network"${value},${request}${claimed}${session}}}`;
}

function extraOf(
  { origin, durationMs, errorCode, errorMessage, extra, trace }: AuditEvent,
  texts: RedactedTexts,
): string {
  const duration = durationMs === undefined ? '' : `,"duration_ms":${Math.round(durationMs * 1000) / 1000}`;
  const transport = origin === undefined ? '' : origin.isStream ? ',"transport":"sse"' : ',"transport":"http"';
  const own = texts.members(extra, MAX_TEXT_CHARACTERS);
  const code = errorCode === undefined ? '' : `,"jsonrpc_error_code":${errorCode}`;
  const message = texts.member('jsonrpc_error_message', errorMessage, MAX_TEXT_CHARACTERS);
  const traceId = trace === undefined ? undefined : TRACE.exec(trace)?.[1];
  const traced = traceId === undefined ? '' : `,"trace_id":"${traceId}"`;
  return `${duration}${transport}${own === '' ? '' : ','}${own}${code}${message}${traced}`.replace(LEADING_COMMA, '');
}

const LEADING_COMMA = /^,/;
/** A trace id, or the `traceparent` around one (W3C trace context §3.2). */
const TRACE = /^(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:$|-[0-9a-f]{16}-)/;

function dataOf({ request, response }: AuditEvent): string {
  if (request === undefined && response === undefined) return '';
  const data: JsonObject = {
    request: decodedValue(request),
    request_omitted: request?.isCut === true ? true : undefined,
    response: innerOf(decodedValue(response)),
    response_truncated: response?.isCut === true ? true : undefined,
  };
  return `,"data":${JSON.stringify(data)}`;
}

function decodedValue(captured: Captured | undefined): JsonValue | undefined {
  if (captured?.bytes === undefined) return undefined;
  const value = parsePartialJson(captured.bytes.toString('utf8'));
  return value === undefined ? undefined : redacted(value);
}

/** The result or error of a JSON-RPC response. */
function innerOf(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value)) return value;
  return value.result ?? value.error ?? undefined;
}
