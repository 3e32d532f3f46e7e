import type { ContractSection } from '@toolmgr/core';

/** `incomingAuth.type: oidc` with its options. */
export const contract: ContractSection = {
  contractKey: 'incomingAuth.oidc',
  choice: { of: 'incomingAuth', type: 'oidc' },
  facts: () => ({ callers: 'token' }),
};
