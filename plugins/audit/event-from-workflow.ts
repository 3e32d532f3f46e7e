import type { WorkflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import type { AuditEvent, Outcome } from './event.ts';
import { type EventContext, textOf, traceOf } from './event-from-call.ts';
import { typeOfWorkflow } from './event-types.ts';

const OUTCOMES = {
  started: 'success',
  completed: 'success',
  failed: 'failure',
  timed_out: 'failure',
  step_started: 'success',
  step_completed: 'success',
  step_failed: 'failure',
  step_skipped: 'success',
} as const satisfies Record<WorkflowAdvanced['change'], Outcome>;

/** The event of a workflow or of one of its steps; `undefined` when its type is excluded. */
export function eventFromWorkflow(advanced: WorkflowAdvanced, context: EventContext): AuditEvent | undefined {
  const { call, change, step, workflowId, workflowName } = advanced;
  const type = typeOfWorkflow(change);
  if (!context.isWanted(type)) return undefined;
  const client = call.client.clientInfo;
  return {
    type,
    outcome: OUTCOMES[change],
    loggedAtMs: advanced.atMs,
    requestId: call.id,
    origin: undefined,
    caller: call.caller,
    clientName: textOf(client?.name),
    clientVersion: textOf(client?.version),
    target: {
      workflow_id: workflowId,
      workflow_name: workflowName,
      step_id: step?.id,
      step_type: step?.type,
      tool_name: step?.tool,
    },
    durationMs: advanced.durationMs,
    errorCode: undefined,
    errorMessage: undefined,
    extra: {
      timeout_ms: advanced.timeoutMs,
      step_count: advanced.stepCount,
      retry_count: advanced.retryCount,
      condition: advanced.condition,
    },
    trace: traceOf(call),
    request: undefined,
    response: undefined,
  };
}
