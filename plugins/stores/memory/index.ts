import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { MemoryStore } from './memory-store.ts';

const ADDRESS = 'stores/memory';

/** Store `memory`: values and token buckets in this process. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'keeps values and token buckets in this process',
  config: z.strictObject({
    maxKeys: z.int().min(1).default(100_000).describe('maximum values, and maximum buckets; above it STORE_FULL'),
    sweepMs: z.int().min(10).default(30_000).describe('interval in which expired keys are deleted'),
  }),
  apply(core, { maxKeys, sweepMs }) {
    const store = new MemoryStore({ maxKeys, now: core.now });
    let sweeping: NodeJS.Timeout | undefined;
    core.slots.stores.register('memory', store);
    core.hooks.starting.tap(ADDRESS, () => {
      sweeping = setInterval(() => store.sweep(), sweepMs).unref();
    });
    core.hooks.stopping.tapPromise(ADDRESS, async () => {
      clearInterval(sweeping);
      await store.close();
    });
  },
});
