import type { Operation } from '@toolmgr/plugins/kit/operations';
import { bulkOperations } from './bulk-operations.ts';
import { changeOperations } from './change-operations.ts';
import type { WorkloadDeps } from './deps.ts';
import { listingOperations } from './listing-operations.ts';
import { logOperations } from './log-operations.ts';

/** The operations of workloads. */
export function workloadOperations(deps: WorkloadDeps): readonly Operation[] {
  return [...listingOperations(deps), ...changeOperations(deps), ...bulkOperations(deps), ...logOperations(deps)];
}
