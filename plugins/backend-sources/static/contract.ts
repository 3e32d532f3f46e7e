import type { ContractSection, PlanPart } from '@toolmgr/core';

/** What is read here of one backend of the file. */
interface Listed {
  readonly name: string;
  readonly transport: string;
  readonly type?: string;
}

/** `backends`: without any, the file serves the workloads of its group. */
export const contract: ContractSection = {
  contractKey: 'backends',
  facts: (backends: readonly Listed[]) => ({
    backends: backends.map(({ name, transport, type }) => ({
      name,
      isProgram: transport === 'stdio',
      isRemote: type === 'entry',
    })),
  }),
  fromContract(backends: readonly Listed[] = [], { group }, use): PlanPart {
    return backends.length === 0 ? {} : { plugins: [{ use, with: { group, backends } }] };
  },
  overview: (_section, { backends: { length }, group }) => ({
    key: 'backends',
    label: 'backends',
    value: length,
    ...(length === 0 ? { text: `the running workloads of group ${group}` } : {}),
  }),
  initial: (running) => running,
};
