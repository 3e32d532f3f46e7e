import { createReadStream } from 'node:fs';
import { isObject, type JsonObject, type JsonValue, parsedJson } from '@toolmgr/core';
import { UsageError } from '../../shared/usage-error.ts';
import { readLines, TOO_LONG } from '../../stdio/read-lines.ts';

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

/**
 * The calls of tools in an audit file, and `undefined` for each other line.
 * @throws UsageError when the file cannot be read, or has no line of an audit
 */
export async function* auditedCalls(file: string): AsyncGenerator<AuditedCall | undefined> {
  let events = 0;
  let lines = 0;
  try {
    for await (const line of readLines(createReadStream(file), MAX_LINE_BYTES)) {
      lines += 1;
      const event = line === TOO_LONG ? undefined : parsedJson(line.toString('utf8'));
      if (isObject(event) && typeof event.msg === 'string' && event.msg.startsWith('audit_')) events += 1;
      yield isObject(event) ? callOf(event) : undefined;
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new UsageError(`${file} cannot be read (${code})`);
  }
  if (lines > 0 && events === 0) throw new UsageError(`${file} is no audit file: it has no line of an audit event`);
}

const MAX_LINE_BYTES = 16 * 1_048_576;

/** Source: `plugins/audit/audit-line.ts`. A failure before anything was decided, e.g. an unknown tool, is `failed`. */
function callOf(event: JsonObject): AuditedCall | undefined {
  const { type, time, outcome, target } = event;
  if (type !== 'mcp_tool_call' || !isObject(target) || typeof target.name !== 'string') return undefined;
  const subject = member(event, 'subjects', 'user_id');
  const parent = member(event, 'metadata', 'extra', 'parent_name');
  const given = member(event, 'data', 'request', 'arguments');
  return {
    at: typeof time === 'string' ? time : '',
    subject: typeof subject === 'string' ? subject : undefined,
    tool: target.name,
    parent: typeof parent === 'string' ? parent : undefined,
    was: outcome === 'denied' ? 'refused' : outcome === 'success' ? 'permitted' : 'failed',
    arguments: isObject(given) ? given : undefined,
  };
}

function member(event: JsonObject, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = event;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}
