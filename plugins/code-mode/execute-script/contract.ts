import type { ContractSection, PlanPart } from '@toolmgr/core';

/** `codeMode`: where scripts run, and the tool that takes them. */
export const contract: ContractSection = {
  contractKey: 'codeMode',
  hasSwitch: true,
  ownTools: ['execute_tool_script'],
  fromContract(settings, _facts, use): PlanPart {
    return settings === undefined ? {} : { plugins: [{ use: 'code-mode/quickjs' }, { use, with: settings }] };
  },
};
