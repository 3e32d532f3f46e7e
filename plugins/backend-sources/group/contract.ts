import type { SectionReader } from '@toolmgr/core';

/** `groupRef`: the running workloads of the group, where the file lists no backends. */
export const contract: SectionReader = {
  fromContract: (group, { backends, discovers }, use) =>
    backends.length > 0 || discovers ? {} : { plugins: [{ use, with: { group } }] },
};
