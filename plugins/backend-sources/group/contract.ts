import type { SectionReader } from '@toolmgr/core';

/** `groupRef`: the running workloads of the group, where the file lists no backends. */
export const contract: SectionReader = {
  fromContract: (group, { backends }, use) => (backends.length > 0 ? {} : { plugins: [{ use, with: { group } }] }),
};
