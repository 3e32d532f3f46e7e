import { ANONYMOUS, isObject, type JsonObject } from '@toolmgr/core';
import { memberAt } from '../audit-files.ts';

/** A call of a tool in an audit file. */
export interface AuditedCall {
  /** RFC 3339. */
  readonly at: string;
  /** The subject; `undefined` for an anonymous caller. */
  readonly subject: string | undefined;
  readonly tool: string;
  /** The tool or script that made the call; `undefined` for calls of clients. */
  readonly parent: string | undefined;
  /** What happened then. */
  readonly was: 'permitted' | 'refused' | 'failed';
  /** `undefined` when the file does not have them. */
  readonly arguments: JsonObject | undefined;
}

/** The call of an event; `undefined` for other events. Source: `plugins/audit/audit-line.ts`. A failure before anything was decided, e.g. an unknown tool, is `failed`. */
export function auditedCallOf(event: JsonObject): AuditedCall | undefined {
  const { type, time, outcome, target } = event;
  if (type !== 'mcp_tool_call' || !isObject(target) || typeof target.name !== 'string') return undefined;
  const subject = memberAt(event, 'subjects.user_id');
  const parent = memberAt(event, 'metadata.extra.parent_name');
  const given = memberAt(event, 'data.request.arguments');
  return {
    at: typeof time === 'string' ? time : '',
    subject: typeof subject === 'string' && subject !== ANONYMOUS.subject ? subject : undefined,
    tool: target.name,
    parent: typeof parent === 'string' ? parent : undefined,
    was: outcome === 'denied' ? 'refused' : outcome === 'success' ? 'permitted' : 'failed',
    arguments: isObject(given) ? given : undefined,
  };
}
