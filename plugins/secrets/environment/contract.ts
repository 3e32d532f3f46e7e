import type { ContractSection } from '@toolmgr/core';

/** Every file reads secrets from the environment; no section says so. */
export const contract: ContractSection = {
  fromContract: (_section, _facts, use) => ({ plugins: [{ use }] }),
};
