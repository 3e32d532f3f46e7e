import type { BackendManager } from '../backend/backend-manager.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import type { Caller } from '../contract/caller.ts';
import { GatewayFault } from '../errors.ts';
import type { Backends } from '../extension/plugin.ts';
import type { MissingBackends } from '../pipeline/missing-backends.ts';
import type { ServerDescriber } from '../pipeline/server-info.ts';
import type { Plan } from './plan.ts';

/** What implements `core.backends` once the gateway is wired. */
export interface BackendsBehind {
  readonly manager: Pick<BackendManager, 'states' | 'probe' | 'setHealth'>;
  readonly gaps: MissingBackends;
  readonly catalogs: Pick<Catalogs, 'changed'>;
  readonly serverDescriber: Pick<ServerDescriber, 'stale'>;
  strategyOf(backend: string): string;
  /** See {@link Backends}. */
  credentialsChanged(concerns: (caller: Caller) => boolean): void;
}

/** Makes `core.backends`; it is empty until `behind` returns something. */
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
    states: () => behind()?.manager.states() ?? [],
    strategyOf: (name) => behind()?.strategyOf(name) ?? (outgoingAuth.backends[name] ?? outgoingAuth.default).type,
    async probe(name, timeoutMs, signal) {
      const startedAt = performance.now();
      await joined().manager.probe(name, timeoutMs, signal);
      return performance.now() - startedAt;
    },
    setHealth(name, health) {
      const { manager, gaps } = joined();
      manager.setHealth(name, health);
      gaps.stale();
    },
    credentialsChanged: (concerns) => behind()?.credentialsChanged(concerns),
    reshape() {
      const found = behind();
      found?.serverDescriber.stale();
      found?.catalogs.changed('', '');
    },
    requireAll: () => joined().gaps.requireAll(),
  };
}
