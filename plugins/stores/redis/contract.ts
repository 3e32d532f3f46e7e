import { isObject, type PlanPart } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

/** The section: which store, and the configuration of `stores/redis`; the memory store takes nothing from the file. */
interface SessionStorage {
  readonly provider: 'memory' | 'redis';
}

/** `sessionStorage`. */
export const contract: ClusterReader = {
  schema(config, section) {
    const provider = z.enum(['memory', 'redis']);
    if (isObject(section) && section.provider === 'redis') return config.safeExtend({ provider });
    return z.strictObject(config.shape).partial().safeExtend({ provider }); // without the checks of one key against another
  },
  facts: ({ provider }: SessionStorage) => ({
    store: provider,
    ...(provider === 'redis' ? { sharedStore: provider } : {}),
  }),
  fromContract(section: SessionStorage | undefined, _facts, use): PlanPart {
    if (section === undefined) return {};
    const { provider, ...settings } = section;
    if (provider === 'memory') return { plugins: [{ use: 'stores/memory' }] };
    return { plugins: [{ use, with: settings }], sessionStorage: { store: provider } };
  },
  warnings(section: SessionStorage) {
    if (section.provider === 'redis') return [];
    return Object.entries(section)
      .filter(([key, value]) => key !== 'provider' && !(key === 'db' && Number(value) === 0))
      .map(([key]) => ({ path: [key], message: 'has no effect with provider memory' }));
  },
  fromCluster: () => import('./from-cluster.ts'),
};
