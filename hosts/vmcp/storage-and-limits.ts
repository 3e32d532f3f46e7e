import type { PlanInput } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import type { Problem } from './problem.ts';

type Uses = PlanInput['plugins'];

/** The store of a file and its rate limits. Limits without a store have one in this process. */
export function storageAndLimits({ sessionStorage, rateLimiting }: VmcpConfig): Uses {
  const isLimited = [rateLimiting?.shared, rateLimiting?.perUser, rateLimiting?.tools?.[0]].some(Boolean);
  if (sessionStorage === undefined && !isLimited) return [];
  const { provider, ...settings } = sessionStorage ?? { provider: 'memory' };
  const store = provider === 'redis' ? { use: 'stores/redis', with: settings } : { use: 'stores/memory' };
  return isLimited ? [store, { use: 'rate-limit', with: { store: provider, ...rateLimiting } }] : [store];
}

/** Buckets of users whom nobody tells apart. Source: vmcp spec §2 rateLimiting, "needs authentication". */
export function anonymousUsers({ incomingAuth, plugins, rateLimiting }: VmcpConfig): Problem[] {
  // a plugin of the file may know callers
  if (incomingAuth?.type !== 'anonymous' || (plugins ?? []).length > 0 || rateLimiting === undefined) return [];
  const { perUser, tools = [] } = rateLimiting;
  const places: Problem['path'][] = [
    ...(perUser === undefined ? [] : [['rateLimiting', 'perUser']]),
    ...tools.flatMap((tool, index) =>
      tool.perUser === undefined ? [] : [['rateLimiting', 'tools', index, 'perUser']],
    ),
  ];
  const message = 'needs authentication: with incomingAuth.type anonymous all callers are one';
  return places.map((path) => ({ path, message }));
}

/** What a memory store does not use. */
export function unusedStorage({ sessionStorage }: VmcpConfig): Problem[] {
  if (sessionStorage === undefined || sessionStorage.provider === 'redis') return [];
  return Object.entries(sessionStorage)
    .filter(([key, value]) => key !== 'provider' && !(key === 'db' && Number(value) === 0))
    .map(([key]) => ({ path: ['sessionStorage', key], message: 'has no effect with provider memory' }));
}
