import type { PlanPart, SectionProblem } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** What is read here of the section. */
interface RateLimiting {
  readonly shared?: unknown;
  readonly perUser?: unknown;
  readonly tools?: readonly { readonly name: string; readonly perUser?: unknown }[];
}

/** `rateLimiting`. */
export const contract: ClusterReader = {
  fromContract: (section: RateLimiting | undefined, { store }, use) => limitsPart(section, store, use),
  /** Buckets of users that are all one. Source: vmcp spec §2 rateLimiting, "needs authentication". */
  problems({ perUser, tools = [] }: RateLimiting, { callers, hasOwnPlugins }) {
    if (callers !== 'anonymous' || hasOwnPlugins) return [];
    const places: SectionProblem['path'][] = [
      ...(perUser === undefined ? [] : [['perUser']]),
      ...tools.flatMap((tool, index) => (tool.perUser === undefined ? [] : [['tools', index, 'perUser']])),
    ];
    const message = 'needs authentication: with incomingAuth.type anonymous all callers are one';
    return places.map((path) => ({ path, message }));
  },
  /** Limits of tools whose name has no backend's prefix, where every name gets one. */
  warnings({ tools = [] }: RateLimiting, { backends, prefixOf, ownTools, hasOwnPlugins }) {
    if (backends.length === 0 || prefixOf === undefined || hasOwnPlugins) return [];
    const prefixes = backends.map((backend) => prefixOf(backend.name));
    return tools.flatMap(({ name }, index) => {
      if (ownTools.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))) return [];
      const message = `no tool is named "${name}": names begin with ${prefixes.join(' or ')} (conflictResolution prefix)`;
      return [{ path: ['tools', index, 'name'], message }];
    });
  },
  fromCluster: () => import('./from-cluster.ts'),
};

/** The plugin with its limits, when there are any. Without a store they have one in this process. */
export function limitsPart(limits: RateLimiting = {}, store: string | undefined, use: string): PlanPart {
  if (![limits.shared, limits.perUser, limits.tools?.[0]].some(Boolean)) return {};
  const limiter = { use, with: { store: store ?? 'memory', ...limits } };
  return { plugins: store === undefined ? [{ use: 'stores/memory' }, limiter] : [limiter] };
}
