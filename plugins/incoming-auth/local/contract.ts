import type { ContractSection } from '@toolmgr/core';

/** `incomingAuth.type: local`. */
export const contract: ContractSection = {
  choice: { of: 'incomingAuth', type: 'local' },
  acceptsUnauthenticatedCallers: true,
  facts: () => ({ callers: 'local' }),
};
