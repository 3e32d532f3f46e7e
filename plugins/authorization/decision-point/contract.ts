import type { PlanPart, SectionReader } from '@toolmgr/core';

/** `decisionPoint`. */
export const contract: SectionReader = {
  fromContract(section: unknown, _reading, use): PlanPart {
    return section === undefined ? {} : { plugins: [{ use, with: section }] };
  },
};
