import type { PlanPart, SectionReader } from '@toolmgr/core';

/** `codeMode`: where scripts run, and the tool that takes them. */
export const contract: SectionReader = {
  fromContract(settings, _facts, use): PlanPart {
    return settings === undefined ? {} : { plugins: [{ use: 'code-mode/quickjs' }, { use, with: settings }] };
  },
};
