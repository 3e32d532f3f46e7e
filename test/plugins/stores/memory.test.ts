import { describe, expect, it } from 'vitest';
import memory from '../../../plugins/stores/memory/index.ts';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { storeContract } from '../../contract/store.contract.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const openStore = async () => {
  const clock = { nowMs: 1_800_000_000_000 };
  return {
    store: new MemoryStore({ maxKeys: 1000, now: () => clock.nowMs }),
    advance: (ms: number) => {
      clock.nowMs += ms;
    },
    nowMs: () => clock.nowMs,
  };
};

describe('stores/memory fulfils the contract of a store:', () => {
  storeContract(openStore);
});

describe('stores/memory', () => {
  proves('ask.plugin.memory-store', 'is registered as memory and uses the clock of the core', async () => {
    const core = await bootPlugin(memory, {});
    const store = core.slots.stores.get('memory');
    await store.set('key', 'value', 1000);
    expect(await store.get('key')).toBe('value');
    core.clock.nowMs += 999;
    expect(await store.get('key')).toBe('value');
    core.clock.nowMs += 1;
    expect(await store.get('key')).toBeUndefined();
    await core.hooks.stopping.promise();
    await expect(store.get('key')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('deletes expired values and full buckets in bounded sweeps', async () => {
    const { store, advance, nowMs } = await openStore();
    for (let n = 0; n < 10; n++) await store.set(`value-${n}`, 'x', n < 8 ? 100 : 10_000);
    for (let n = 0; n < 10; n++) {
      await store.take([{ key: `bucket-${n}`, capacity: 1, refillPeriodMs: n < 8 ? 100 : 10_000 }], nowMs());
    }
    advance(100);
    store.sweep(5);
    expect(store.size).toBe(10);
    store.sweep(5);
    expect(store.size).toBe(4);
    store.sweep(5);
    store.sweep(5);
    expect(store.size).toBe(4);
  });

  it('refuses new keys when full, keeps live ones, and accepts new ones after old ones expire', async () => {
    const clock = { nowMs: 0 };
    const store = new MemoryStore({ maxKeys: 2, now: () => clock.nowMs });
    const bucket = (key: string) => ({ key, capacity: 1, refillPeriodMs: 60_000 });
    await store.set('a', '1', 5_000);
    await store.set('b', '2', 50_000);
    await expect(store.set('d', '4', 1_000)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await store.take([bucket('a'), bucket('b')], 0);
    await expect(store.take([bucket('c')], 60_000 - 1)).rejects.toThrow(/maxKeys/);
    expect(await store.take([bucket('a')], 60_000 - 1)).toBe(1);
    await store.set('a', 'again', 5_000);
    clock.nowMs = 5_000;
    await store.set('d', '4', 1_000);
    expect([await store.get('a'), await store.get('b'), await store.get('d')]).toEqual([undefined, '2', '4']);
  });
});
