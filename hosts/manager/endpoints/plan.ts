import type { PlanInput } from '@toolmgr/core';
import { RECENT_CALLS } from '../../http/recent-calls/plugin.ts';
import { CALL_TIMEOUT_MS } from '../../shared/call-timeout.ts';
import type { EndpointAddress } from './endpoint-address.ts';

/** What an endpoint of the manager serves: the running workloads of a group, or one of them under its own names. */
export interface EndpointTarget {
  readonly kind: 'groups' | 'workloads';
  readonly name: string;
}

/** Path of an endpoint, e.g. `/mcp/groups/default`; a space in the name of a group is `%20`. */
export function endpointPath({ kind, name }: EndpointTarget): string {
  return `/mcp/${kind}/${encodeURIComponent(name)}`;
}

/** How a gateway of the manager names itself to the proxies of workloads, before the name of the group or workload. */
export const CLIENT_PREFIX = 'manager:';

/** The plan of an endpoint. Policies of a workload stay in force: it is called through its own proxy. Pure. */
export function endpointPlan(
  target: EndpointTarget,
  { stateDir, address }: { readonly stateDir: string; readonly address: EndpointAddress },
): PlanInput {
  const source = { [target.kind === 'groups' ? 'group' : 'workload']: target.name, stateDir };
  // one workload keeps the names of its server
  const naming = target.kind === 'groups' ? [{ use: 'aggregation', with: {} }] : [];
  return {
    name: `${CLIENT_PREFIX}${target.name}`,
    timeouts: { defaultMs: CALL_TIMEOUT_MS }, // like the own port of a workload
    endpoint: { path: endpointPath(target), ...address },
    plugins: [
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/group', with: source },
      ...naming,
      { use: RECENT_CALLS },
    ],
  };
}
