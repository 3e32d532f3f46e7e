import { createLog } from '@toolmgr/core';
import type { Operation } from '@toolmgr/plugins/management';
import { openEndpoints } from './endpoints/open-endpoints.ts';
import { createEventHub, type EventHub } from './events/event-hub.ts';
import { eventOperations } from './events/operations.ts';
import { gatewayMemory } from './gateway-memory.ts';
import type { DescribedOperations } from './http/openapi.ts';
import { createPageTokens, type PageTokens } from './http/page-tokens.ts';
import { pageCodeOperation, pageSignInOperation } from './http/sign-in-operations.ts';
import { createJobs, type JobTable } from './jobs/jobs.ts';
import { jobOperations } from './jobs/operations.ts';
import { managerOperations } from './plan.ts';

/** What the operations of the host itself use. */
export interface HostParts {
  readonly jobs: JobTable;
  readonly hub: EventHub;
  readonly pageTokens: PageTokens;
  /** The registry listing needs no token: MCP clients that read a registry URL cannot send one. */
  readonly opensRegistry?: boolean;
}

/** The operations of the features and those of the host. */
export function allOperations(
  features: readonly Operation[],
  { jobs, hub, pageTokens, opensRegistry = false }: HostParts,
): DescribedOperations {
  const isOpen = ({ path }: Operation): boolean => opensRegistry && path.startsWith('/registry/');
  return {
    operations: [
      ...features.filter((each) => !isOpen(each)),
      ...jobOperations(jobs),
      ...eventOperations(hub),
      pageCodeOperation(pageTokens),
    ],
    openOperations: [pageSignInOperation(pageTokens), ...features.filter(isOpen)],
  };
}

/** Every operation of the real plan, to be described and not to be run: nothing is read, written or started. */
export function describedOperations(): DescribedOperations {
  const hub = createEventHub('described');
  const log = createLog('error', () => {});
  const jobs = createJobs(hub.publish, log);
  const memory = gatewayMemory(log, undefined);
  const { endpoints, calls } = openEndpoints({
    stateDir: '/nonexistent',
    log,
    address: {},
    memory,
    needsNoToken: true,
  });
  const parts = {
    endpoints,
    calls,
    state: '/nonexistent',
    env: {},
    version: '0.0.0',
    jobs,
    log,
    publish: hub.publish,
    signal: new AbortController().signal,
  };
  return allOperations(managerOperations(parts), { jobs, hub, pageTokens: createPageTokens('') });
}
