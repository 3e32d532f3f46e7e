import type { Caller, CallMethod, CallRecord, EntryKind } from '@toolmgr/core';
import type { AuditConfig, RecordedType } from './config.ts';

/** What one line will say. Small and without the call's parameters, so that a waiting queue holds no request bodies. */
export interface AuditEvent {
  readonly type: RecordedType;
  readonly outcome: AuditOutcome;
  readonly loggedAtMs: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly parentId: string | undefined;
  readonly method: CallMethod;
  readonly name: string;
  readonly kind: EntryKind;
  readonly workload: string;
  readonly caller: Caller;
  readonly clientName: string | undefined;
  readonly clientVersion: string | undefined;
  readonly resultBytes: number;
  readonly rounds: number;
  readonly toolFailed: boolean;
  readonly errorCode: number | undefined;
  readonly errorMessage: string | undefined;
}

/** How a call ended, in the words of the audit trail. */
export type AuditOutcome = 'success' | 'failure' | 'error' | 'denied' | 'application_error';

const TYPES = {
  'tools/call': 'mcp_tool_call',
  'prompts/get': 'mcp_prompt_get',
  'resources/read': 'mcp_resource_read',
  'resources/subscribe': 'mcp_request',
  'completion/complete': 'mcp_completion',
} as const satisfies Record<CallMethod, RecordedType>;

const OUTCOMES = {
  ok: 'success',
  toolError: 'success', // the server worked; `tool_error` in the line tells
  refused: 'denied',
  error: 'application_error',
  fault: 'error',
  cancelled: 'failure',
  abandoned: 'failure',
} as const satisfies Record<CallRecord['outcome'], AuditOutcome>;

/** Makes the function that turns a settled call into an event, or into `undefined` when its type is not wanted. */
export function createSnapshot(
  config: Pick<AuditConfig, 'eventTypes' | 'excludeEventTypes' | 'detectApplicationErrors'>,
): (record: CallRecord) => AuditEvent | undefined {
  const only: ReadonlySet<string> = new Set(config.eventTypes);
  const never: ReadonlySet<string> = new Set(config.excludeEventTypes);
  return (record) => {
    const { call } = record;
    const type = TYPES[call.method];
    if (never.has(type) || (only.size > 0 && !only.has(type))) return undefined;
    const client = call.asker.clientInfo;
    return {
      type,
      outcome: outcomeOf(record, config.detectApplicationErrors),
      loggedAtMs: record.startedMs + record.durationMs,
      durationMs: record.durationMs,
      requestId: call.id,
      parentId: call.parent?.id,
      method: call.method,
      name: call.name,
      kind: call.target.kind,
      workload: call.target.workload,
      caller: call.caller,
      clientName: textOf(client?.name),
      clientVersion: textOf(client?.version),
      resultBytes: record.resultBytes,
      rounds: record.rounds,
      toolFailed: record.outcome === 'toolError',
      errorCode: record.error?.code,
      errorMessage: record.error?.message,
    };
  };
}

function outcomeOf(record: CallRecord, detectApplicationErrors: boolean): AuditOutcome {
  if (record.outcome === 'refused' && record.refusal?.status === 429) return 'failure';
  if (record.outcome === 'error' && !detectApplicationErrors) return 'success';
  return OUTCOMES[record.outcome];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
