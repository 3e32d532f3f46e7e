import { definePlugin } from '@toolmgr/core';
import { redisConfig } from './config.ts';
import { connectStore } from './connect-store.ts';
import { keysOf } from './key-names.ts';
import { createRedisStore, storeScripts } from './redis-store.ts';

const ADDRESS = 'stores/redis';

/** Store `redis`: values and token buckets shared by several processes. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'keeps values and token buckets in Redis, for all replicas of a gateway',
  contractKey: 'sessionStorage',
  config: redisConfig,
  apply(core, config) {
    const connection = connectStore(core, config, storeScripts());
    const store = createRedisStore(connection, keysOf(core.server.name, config.keyPrefix));
    core.slots.stores.register('redis', store);
    core.hooks.starting.tapPromise(ADDRESS, () => connection.open());
    core.hooks.stopping.tapPromise(ADDRESS, () => store.close());
  },
});
