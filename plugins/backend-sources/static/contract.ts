import type { PlanPart, SectionReader } from '@toolmgr/core';

/** The members of a listed backend that are read here. */
interface ListedBackend {
  readonly name: string;
  readonly transport: string;
  readonly type?: string;
}

/** `backends`: without any, the file serves the workloads of its group. */
export const contract: SectionReader = {
  facts: (backends: readonly ListedBackend[]) => ({
    backends: backends.map(({ name, transport, type }) => ({
      name,
      isProgram: transport === 'stdio',
      isRemote: type === 'entry',
    })),
  }),
  fromContract(backends: readonly ListedBackend[] = [], { group }, use): PlanPart {
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
