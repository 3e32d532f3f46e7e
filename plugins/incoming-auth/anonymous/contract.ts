import type { ContractSection } from '@toolmgr/core';

/** `incomingAuth.type: anonymous`. */
export const contract: ContractSection = {
  choice: { of: 'incomingAuth', type: 'anonymous', isDefault: true },
  acceptsUnauthenticatedCallers: true,
  facts: () => ({ callers: 'anonymous' }),
};
