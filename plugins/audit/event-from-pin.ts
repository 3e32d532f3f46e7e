import { randomUUID } from 'node:crypto';
import type { PinChanged } from '@toolmgr/plugins/kit/extension-points';
import type { AuditEvent } from './event.ts';
import type { EventContext } from './event-from-call.ts';

/** The event of a definition that is held, or of the decision of a person; `undefined` when its type is excluded. */
export function eventFromPin(changed: PinChanged, context: EventContext): AuditEvent | undefined {
  const { change, backend, kind, name, hash, reason, by, atMs } = changed;
  const type = `vmcp_pin_${change}` as const;
  if (!context.isWanted(type)) return undefined;
  return {
    type,
    outcome: change === 'held' ? 'denied' : 'success',
    loggedAtMs: atMs,
    requestId: randomUUID(),
    origin: undefined,
    caller: undefined,
    clientName: undefined,
    clientVersion: undefined,
    target: { backend, kind, name, definition_hash: hash },
    durationMs: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    extra: { reason, approved_by: by },
    trace: undefined,
    request: undefined,
    response: undefined,
  };
}
