import type { Operation } from '@toolmgr/plugins/kit/operations';
import { changeOperations } from './change-operations.ts';
import { listingOperations } from './listing-operations.ts';
import { readOperations } from './read-operations.ts';
import type { RegistryDeps } from './registry-deps.ts';
import { signInOperations } from './sign-in-operations.ts';

/** The operations of "Registries" and of the registry-server listing API, and our own ones that a complete tool needs. */
export function registryOperations(deps: RegistryDeps): readonly Operation[] {
  return [
    ...readOperations(deps),
    ...changeOperations(deps),
    ...signInOperations(deps),
    ...listingOperations(deps.registries),
  ];
}
