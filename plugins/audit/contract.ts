import type { PlanPart, SectionReader } from '@toolmgr/core';

/** `audit`. Lines carry the name of the gateway, unless the file names the component. */
export const contract: SectionReader = {
  fromContract(settings: object | undefined, { name, metadata }, use): PlanPart {
    if (settings === undefined) return {};
    const server = metadata === undefined ? {} : { metadata };
    return { plugins: [{ use, with: { component: name, ...server, ...settings } }] };
  },
};
