import type { ContractSection } from '@toolmgr/core';

/** `groupRef`: the running workloads of the group, where the file lists no backends. */
export const contract: ContractSection = {
  contractKey: 'groupRef',
  fromContract: (group, { backends }, use) => (backends.length > 0 ? {} : { plugins: [{ use, with: { group } }] }),
};
