import type { SessionEnded } from '../contract/event.ts';
import { createEndpoint, type Endpoint, type HandoverParts } from '../server/endpoint.ts';
import { createSharedSessions, type SharedSessions } from '../server/era-2025-11-25/sessions/session-store.ts';
import { endpointPaths } from './endpoint-settings.ts';
import { mountedRoutes } from './mounted-routes.ts';
import type { HandoverState } from './reload-handover.ts';
import type { WiringParts } from './wire-backends.ts';
import type { WiredPipeline } from './wire-pipeline.ts';

/** An endpoint, and what this gateway serves through it. */
export interface WiredServer {
  readonly endpoint: Endpoint;
  /** What the endpoint uses instead of the previous gateway after a reload. */
  readonly replacement: Omit<HandoverParts, 'kept' | 'endStreams'>;
}

/**
 * Makes the endpoint, or takes that of the previous gateway, which serves it until `endpoint.exchange`.
 * @throws GatewayFault SLOT_UNKNOWN
 */
export function wireServer(
  parts: WiringParts,
  { service, pipeline }: WiredPipeline,
  before: HandoverState | undefined,
): WiredServer {
  const { plan, hooks, log, now, bytes, endpointSettings, originOption } = parts;
  const { directPath } = endpointSettings;
  const replacement = {
    service,
    routes: mountedRoutes(hooks, plan.endpoint.path, endpointPaths(plan.endpoint, directPath)),
    requests: pipeline.requests,
    sharedSessions: sharedSessionsOf(parts),
    onSessionEnded: (ended: SessionEnded) => hooks.sessionEnded.call(ended),
  };
  const settings = { ...plan.endpoint, originOption, directPath, limits: plan.limits };
  const endpoint = before?.endpoint ?? createEndpoint({ ...replacement, ...settings, bytes, log, now });
  return { endpoint, replacement };
}

/** The sessions of all replicas, when the plan names a store for them. @throws GatewayFault SLOT_UNKNOWN */
function sharedSessionsOf({ plan, slots, log, now }: WiringParts): SharedSessions | undefined {
  if (plan.sessionStorage === undefined) return undefined;
  const { sessionIdleMs } = plan.limits;
  return createSharedSessions({ store: slots.stores.get(plan.sessionStorage.store), idleMs: sessionIdleMs, now, log });
}
