import type { BackendRoom } from '../backend/room.ts';
import { GatewayFault } from '../errors.ts';
import type { Backends } from '../extension/plugin.ts';
import type { Gaps } from './gaps.ts';
import type { Plan } from './plan.ts';

/** What stands behind `core.backends` once the house is joined. */
export interface BackendsBehind {
  readonly room: Pick<BackendRoom, 'states' | 'probe' | 'judge'>;
  readonly gaps: Gaps;
}

/** Makes `core.backends`; it is empty until `behind` gives something. */
export function createPluginBackends(
  { outgoingAuth }: Pick<Plan, 'outgoingAuth'>,
  behind: () => BackendsBehind | undefined,
): Backends {
  const joined = (): BackendsBehind => {
    const found = behind();
    if (found !== undefined) return found;
    throw new GatewayFault('PLAN_INCOMPLETE', 'backends were used before the gateway was assembled');
  };
  return {
    states: () => behind()?.room.states() ?? [],
    strategyOf: (name) => (outgoingAuth.backends[name] ?? outgoingAuth.default).type,
    async probe(name, timeoutMs, signal) {
      const startedAt = performance.now();
      await joined().room.probe(name, timeoutMs, signal);
      return performance.now() - startedAt;
    },
    judge(name, health) {
      const { room, gaps } = joined();
      room.judge(name, health);
      gaps.stale();
    },
    requireAll: () => joined().gaps.requireAll(),
  };
}
