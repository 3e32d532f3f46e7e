import type { ContractSection } from '@toolmgr/core';

/** `incomingAuth.type: local`. */
export const contract: ContractSection = {
  choice: { of: 'incomingAuth', type: 'local' },
  takesCallersWithoutProof: true,
  facts: () => ({ callers: 'local' }),
};
