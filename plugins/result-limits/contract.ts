import type { PlanPart } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** `resultLimits`: results are kept in the store of the file. Without one they are in this process. */
export const contract: ClusterReader = {
  fromContract(section: object | undefined, { store }, use): PlanPart {
    if (section === undefined) return {};
    const limits = { use, with: { store: store ?? 'memory', ...section } };
    return { plugins: store === undefined ? [{ use: 'stores/memory' }, limits] : [limits] };
  },
  fromCluster: () => import('./from-cluster.ts'),
};
