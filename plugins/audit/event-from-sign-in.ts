import { randomUUID } from 'node:crypto';
import type { SignInChanged } from '@toolmgr/plugins/kit/extension-points';
import type { AuditEvent } from './event.ts';
import type { EventContext } from './event-from-call.ts';

/** The event of a sign-in, a consent, a registration or a revocation; `undefined` when its type is excluded. */
export function eventFromSignIn(changed: SignInChanged, context: EventContext): AuditEvent | undefined {
  const { change, outcome, person, client, upstream, scopes, reason, inbound, atMs } = changed;
  const type = `vmcp_${change}` as const;
  if (!context.isWanted(type)) return undefined;
  return {
    type,
    outcome,
    loggedAtMs: atMs,
    requestId: randomUUID(),
    origin: inbound && {
      address: inbound.remoteAddress,
      userAgent: inbound.headers['user-agent'],
      forwardedFor: inbound.headers['x-forwarded-for'],
      sessionId: undefined,
      isStream: false,
    },
    caller: person === undefined ? undefined : { issuer: '', subject: person, key: person, claims: {} },
    clientName: undefined,
    clientVersion: undefined,
    target: { endpoint: inbound?.path, client_id: client, provider: upstream, scopes: scopes?.join(' ') },
    durationMs: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    extra: { reason },
    trace: undefined,
    request: undefined,
    response: undefined,
  };
}
