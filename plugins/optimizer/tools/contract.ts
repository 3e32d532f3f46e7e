import type { PlanPart } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** What is read here of the section. */
interface Optimizer {
  readonly embeddingProvider?: string;
  readonly embeddingService?: string;
}

/** `optimizer`: the search, what turns texts into vectors where the file names such a thing, and the two tools. */
export const contract: ClusterReader = {
  fromContract(section: Optimizer | undefined, _facts, use): PlanPart {
    if (section === undefined) return {};
    const { embeddingProvider = 'tei', embeddingService } = section;
    const embeds = embeddingService !== undefined || embeddingProvider !== 'tei';
    return {
      plugins: [
        { use: 'optimizer/search' },
        ...(embeds ? [{ use: `optimizer/embed-${embeddingProvider}` }] : []),
        { use, with: section },
      ],
    };
  },
  fromCluster: () => import('./from-cluster.ts'),
};
