import type { ContractSection } from '@toolmgr/core';

/** Strategy `unauthenticated` of `outgoingAuth`. */
export const contract: ContractSection = {
  choice: { of: 'outgoingAuth.*', type: 'unauthenticated', isDefault: true },
};
