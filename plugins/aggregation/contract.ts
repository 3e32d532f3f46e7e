import { nearest } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** What is read here of the section. */
interface Aggregation {
  readonly conflictResolution?: string;
  readonly conflictResolutionConfig?: { readonly prefixFormat?: string; readonly priorityOrder?: readonly string[] };
  readonly tools?: readonly { readonly workload: string }[];
}

const DEFAULTS = { conflictResolution: 'prefix', prefixFormat: '{workload}_' } as const;

/** `aggregation`. */
export const contract: ClusterReader = {
  facts({ conflictResolution = DEFAULTS.conflictResolution, conflictResolutionConfig }: Aggregation) {
    if (conflictResolution !== 'prefix') return {};
    const format = conflictResolutionConfig?.prefixFormat || DEFAULTS.prefixFormat;
    return { prefixOf: (backend) => format.replaceAll('{workload}', () => backend) };
  },
  // only odd, since the group may get one
  warnings({ tools = [], conflictResolutionConfig }: Aggregation, { backends }) {
    const names = backends.map(({ name }) => name);
    if (names.length === 0) return [];
    const given = [
      ...tools.map(({ workload }, index) => ({ path: ['tools', index, 'workload'], workload })),
      ...(conflictResolutionConfig?.priorityOrder ?? []).map((workload, index) => ({
        path: ['conflictResolutionConfig', 'priorityOrder', index],
        workload,
      })),
    ];
    return given
      .filter(({ workload }) => !names.includes(workload))
      .map(({ path, workload }) => {
        const hint = nearest(workload, names);
        const advice = hint === undefined ? '' : `, did you mean "${hint}"?`;
        return { path, message: `no backend is named "${workload}"${advice}` };
      });
  },
  overview: (section: Aggregation | undefined) => ({
    key: 'conflictResolution',
    label: 'conflicts',
    value: section?.conflictResolution ?? DEFAULTS.conflictResolution,
  }),
  initial: () => ({
    conflictResolution: DEFAULTS.conflictResolution,
    conflictResolutionConfig: { prefixFormat: DEFAULTS.prefixFormat },
  }),
  fromCluster: () => import('./from-cluster.ts'),
};
