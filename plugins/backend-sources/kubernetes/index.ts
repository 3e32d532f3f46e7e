import { definePlugin, present } from '@toolmgr/core';
import { createApi, inClusterConnection, podSection } from '@toolmgr/plugins/kit/kubernetes';
import { CaFiles } from './ca-files.ts';
import { discover, type SourceState } from './discover.ts';
import { DISCOVERED, PreparedCredentials, type StrategyUse } from './prepared-credentials.ts';
import { createDiscovered, discoveredOptions } from './strategy.ts';

const ADDRESS = 'backend-sources/kubernetes';

/** The backends of a group in a cluster, as the operator resolves them, with their credentials. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'follows the backends that the operator writes into a config map, with their credentials from secrets',
  contractKey: 'kubernetes',
  config: podSection,
  slotOptions: { [DISCOVERED]: discoveredOptions },
  apply({ slots, hooks, log, environment: env }, { backends, serviceAccount }) {
    if (backends === undefined) return;
    const credentials = new PreparedCredentials(slots, log);
    const caFiles = new CaFiles();
    let byDefault: StrategyUse = { type: 'unauthenticated' };
    let state: SourceState = { notReady: 'cache_sync_pending' };
    slots.secretSources.register('kubernetes', credentials.secrets);
    slots.authStrategies.register(
      DISCOVERED,
      createDiscovered(credentials, (use) => {
        byDefault = use;
      }),
    );
    slots.backendSources.register(ADDRESS, {
      state: () => state,
      async watch(push, signal) {
        const connection = await inClusterConnection({ env, ...present({ folder: serviceAccount }) });
        const { namespace = 'default' } = connection;
        await using api = createApi(connection);
        await discover({
          ...{ api, credentials, caFiles, log, push, signal },
          key: { namespace, name: backends },
          byDefault: () => byDefault,
          took(next) {
            state = next;
          },
        });
      },
    });
    hooks.stopping.tapPromise(ADDRESS, () => caFiles.close());
  },
});
