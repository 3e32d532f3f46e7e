import { randomUUID } from 'node:crypto';
import { type Caller, isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import type { AuditConfig } from './config.ts';
import type { AuditEvent } from './snapshot.ts';

const MESSAGE_CHARACTERS = 256; // vmcp endpoint: jsonrpc_error_message is cut here
const MAX_ACTORS_WALKED = 1000; // a claim nested deeper is not read to its end

const TARGET_TYPES = { tool: 'tool', prompt: 'prompt', resource: 'resource', template: 'resource' } as const;

/**
 * One audit record as a JSON line with its line break.
 *
 * Shape: `time, level, msg, audit_id, type, logged_at, outcome, component, source, subjects, delegation?, target,
 * metadata.extra`. `request_id` is the same in every line of one call; `parent_request_id` names the call that made it.
 */
export function auditLine(event: AuditEvent, config: Pick<AuditConfig, 'component' | 'maxDelegationDepth'>): string {
  const loggedAt = new Date(event.loggedAtMs).toISOString();
  const line: JsonObject = {
    time: loggedAt,
    level: 'AUDIT',
    msg: 'audit_event',
    audit_id: randomUUID(),
    type: event.type,
    logged_at: loggedAt,
    outcome: event.outcome,
    component: config.component,
    source: { type: event.parentId === undefined ? 'network' : 'local', extra: { request_id: event.requestId } },
    subjects: subjectsOf(event),
    delegation: delegationOf(event.caller, config.maxDelegationDepth),
    target: { endpoint: '/mcp', method: event.method, name: event.name, type: TARGET_TYPES[event.kind] },
    metadata: { extra: extraOf(event) },
  };
  return `${JSON.stringify(line)}\n`;
}

/** The line that says how many events were lost because the sink was too slow. */
export function droppedLine(dropped: number, nowMs: number, component: string): string {
  const time = new Date(nowMs).toISOString();
  return `${JSON.stringify({ time, level: 'AUDIT', msg: 'audit_dropped', logged_at: time, component, dropped })}\n`;
}

function subjectsOf(event: AuditEvent): JsonObject {
  const { caller } = event;
  const named = [caller.claims.name, caller.claims.preferred_username, caller.claims.email];
  return {
    user:
      named.find((name): name is string => typeof name === 'string' && name !== '') ?? caller.name ?? caller.subject,
    user_id: caller.subject,
    client_name: event.clientName,
    client_version: event.clientVersion,
  };
}

function extraOf(event: AuditEvent): JsonObject {
  return {
    duration_ms: Math.round(event.durationMs * 1000) / 1000,
    response_size_bytes: event.resultBytes,
    backend_name: event.workload,
    parent_request_id: event.parentId,
    rounds: event.rounds > 1 ? event.rounds : undefined,
    tool_error: event.toolFailed ? true : undefined,
    jsonrpc_error_code: event.errorCode,
    jsonrpc_error_message: event.errorMessage?.slice(0, MESSAGE_CHARACTERS),
  };
}

/** The actors of a token exchanged on someone's behalf, outermost first (RFC 8693 §4.1); absent without `act`. */
function delegationOf(caller: Caller, maxDepth: number): JsonObject | undefined {
  let at: JsonValue | undefined = caller.claims.act;
  if (at === undefined) return undefined;
  const chain: JsonObject[] = [];
  let omitted = 0;
  for (let depth = 0; at !== undefined && depth < MAX_ACTORS_WALKED; depth++) {
    const malformed = whyMalformed(at, depth);
    if (malformed !== undefined) return { chain, malformed: true, malformedReason: malformed };
    const actor = at as JsonObject;
    if (chain.length < maxDepth) chain.push({ iss: actor.iss, sub: actor.sub });
    else omitted++;
    at = actor.act;
  }
  return omitted === 0 ? { chain } : { chain, truncated: true, omitted };
}

function whyMalformed(act: JsonValue, depth: number): string | undefined {
  if (!isObject(act)) return depth === 0 ? 'act is not an object' : 'nested act is not an object';
  if (act.iss !== undefined && typeof act.iss !== 'string') return 'iss is not a string';
  if (act.sub !== undefined && typeof act.sub !== 'string') return 'sub is not a string';
  return undefined;
}
