import type { DataFound } from '@toolmgr/plugins/kit/extension-points';
import type { AuditEvent } from './event.ts';
import type { EventContext } from './event-from-call.ts';

/** The event of data that a detector found in a call; `undefined` when its type is excluded. Never has a value. */
export function eventFromData(found: DataFound, context: EventContext): AuditEvent | undefined {
  const { call, direction, detector, action, count, atMs } = found;
  if (!context.isWanted('vmcp_data_found')) return undefined;
  const { method, target } = call;
  // a URI may have what was found
  const isNamed = target.kind === 'tool' || target.kind === 'prompt';
  return {
    type: 'vmcp_data_found',
    outcome: action === 'block' ? 'denied' : 'success',
    loggedAtMs: atMs,
    requestId: call.id,
    origin: undefined,
    caller: call.caller,
    clientName: undefined,
    clientVersion: undefined,
    target: { backend: target.backend, method, name: isNamed ? call.name : undefined },
    durationMs: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    extra: { direction, detector, action, count },
    trace: undefined,
    request: undefined,
    response: undefined,
  };
}
