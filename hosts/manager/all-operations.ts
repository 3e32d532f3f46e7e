import { type Core, createLog } from '@toolmgr/core';
import type { Operation } from '@toolmgr/plugins/kit/operations';
import { openEndpoints } from './endpoints/open-endpoints.ts';
import { endpointHomes } from './endpoints/plugin.ts';
import { createEventHub, type EventHub } from './events/event-hub.ts';
import { eventOperations } from './events/operations.ts';
import { gatewayMemory } from './gateway-memory.ts';
import type { DescribedOperations } from './http/openapi.ts';
import { createPageTokens, type PageTokens } from './http/page-tokens.ts';
import { pageCodeOperation, pageSignInOperation } from './http/sign-in-operations.ts';
import { createJobs, type JobTable } from './jobs/jobs.ts';
import { jobOperations } from './jobs/operations.ts';
import { openFeatures } from './open-features.ts';
import { versionOperation } from './version-operation.ts';

/** What the operations of the host itself use. */
export interface HostParts {
  readonly version: string;
  readonly jobs: JobTable;
  readonly hub: EventHub;
  readonly pageTokens: PageTokens;
  /** The registry listing needs no token: MCP clients that read a registry URL cannot send one. */
  readonly opensRegistry?: boolean;
}

/** The operations of the features and those of the host. */
export function allOperations(
  features: readonly Operation[],
  { version, jobs, hub, pageTokens, opensRegistry = false }: HostParts,
): DescribedOperations {
  const isOpen = ({ path }: Operation): boolean => opensRegistry && path.startsWith('/registry/');
  return {
    operations: [
      versionOperation(version),
      ...features.filter((each) => !isOpen(each)),
      ...jobOperations(jobs),
      ...eventOperations(hub),
      pageCodeOperation(pageTokens),
    ],
    openOperations: [pageSignInOperation(pageTokens), ...features.filter(isOpen)],
  };
}

/** Every operation of the default plan, to be described and not to be run: nothing is read, written or started. */
export async function describedOperations(): Promise<DescribedOperations> {
  const hub = createEventHub('described');
  const log = createLog('error', () => {});
  const jobs = createJobs(hub.publish, log);
  const [state, version, signal] = ['/nonexistent', '0.0.0', new AbortController().signal];
  const memory = gatewayMemory(log, undefined);
  const endpoints = openEndpoints({ stateDir: state, log, address: {}, memory, needsNoToken: true });
  const fill = (core: Core) => core.slot(endpointHomes).register('manager', endpoints);
  const { operations } = await openFeatures({ state, version, signal, env: {}, log, fill });
  return allOperations(operations, { version, jobs, hub, pageTokens: createPageTokens('') });
}
