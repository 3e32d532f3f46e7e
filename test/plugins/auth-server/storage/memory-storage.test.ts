import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { limitOf } from '../../../../plugins/auth-server/storage/record-kinds.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { authStorageContract } from '../../../contract/auth-storage.contract.ts';
import { proves } from '../../../support/proves.ts';

const HOUR_MS = 3_600_000;

describe('the storage in memory', () => {
  const common = createMemoryStorage(Date.now);
  authStorageContract(() => common);

  let storage: AuthStorage;
  afterEach(() => storage?.close());
  let nowMs = 1_800_000_000_000;
  const open = () => {
    storage = createMemoryStorage(() => nowMs);
    return storage;
  };
  const fill = async (kind: string, ttlMs = HOUR_MS) => {
    const { max } = limitOf(kind);
    for (let n = 0; n < max; n++) await storage.set(`${kind}:${n}`, { n }, ttlMs);
    return max;
  };

  proves(
    'choice.auth-storage.kinds',
    'removes the oldest record of a kind that strangers create when there are too many, and none of another kind',
    async () => {
      open();
      await storage.set('refresh:family', { a: 1 }, HOUR_MS);
      await storage.set('person:1', { a: 1 }, undefined);
      for (const kind of ['interaction', 'sign-in', 'pending']) {
        await fill(kind);
        await storage.set(`${kind}:0`, { n: 'again' }, HOUR_MS); // the oldest is now 1
        await storage.set(`${kind}:more`, {}, HOUR_MS);
        expect((await storage.get(`${kind}:0`))?.value).toEqual({ n: 'again' });
        expect(await storage.get(`${kind}:1`)).toBeUndefined();
        expect(await storage.get(`${kind}:2`)).toBeDefined();
      }
      expect(await storage.get('refresh:family')).toBeDefined();
      expect(await storage.get('person:1')).toBeDefined();
    },
  );

  it('keeps sessions of browsers for an hour: until then it refuses a further one', async () => {
    open();
    const max = await fill('browser-session', 30 * 24 * HOUR_MS);
    await expect(storage.set('browser-session:more', {}, HOUR_MS)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await storage.set('browser-session:5', { n: 'changed' }, 30 * 24 * HOUR_MS);
    nowMs += HOUR_MS;
    await storage.set('browser-session:more', {}, HOUR_MS);
    expect(await storage.get('browser-session:0')).toBeUndefined();
    expect(await storage.get(`browser-session:${max - 1}`)).toBeDefined();
  });

  it('never removes a token: it refuses a further one, until old ones have ended', async () => {
    open();
    const max = await fill('refresh');
    await expect(storage.add('refresh:more', {}, HOUR_MS)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await storage.set('refresh:1', { n: 'written' }, 2 * HOUR_MS);
    await storage.set('code:1', {}, HOUR_MS);
    nowMs += HOUR_MS;
    await storage.add('refresh:more', {}, HOUR_MS);
    expect(await storage.get('refresh:1')).toBeDefined();
    expect(max).toBe(100_000);
  });

  it('limits the characters of a kind, and counts none of what was deleted, taken, overwritten or ended', async () => {
    open();
    const half = { text: 'x'.repeat(limitOf('token').maxChars / 2 - 100) };
    for (const key of ['token:1', 'token:2']) await storage.set(key, half, HOUR_MS);
    await expect(storage.set('token:3', half, HOUR_MS)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await expect(storage.set('token:1', { text: [half, half] }, HOUR_MS)).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect((await storage.get('token:1'))?.value).toEqual(half);
    await storage.set('token:1', half, HOUR_MS);
    await storage.set('token:1', {}, HOUR_MS);
    await storage.set('token:3', half, HOUR_MS);
    await storage.delete('token:3');
    await storage.set('token:4', half, HOUR_MS);
    await storage.take('token:4');
    await storage.set('token:5', half, 1000);
    await storage.set('code:1', half, HOUR_MS);
    nowMs += 10_000;
    await expect(storage.set('token:6', half, HOUR_MS)).resolves.toBeUndefined();
  });

  it('removes as many of the oldest interactions as a large one needs', async () => {
    open();
    const quarter = { text: 'x'.repeat(limitOf('interaction').maxChars / 4 - 100) };
    for (let n = 0; n < 4; n++) await storage.set(`interaction:${n}`, quarter, HOUR_MS);
    await storage.set('interaction:4', { text: [quarter, quarter] }, HOUR_MS);
    const left = [0, 1, 2, 3, 4].map(async (n) => (await storage.get(`interaction:${n}`)) !== undefined);
    expect(await Promise.all(left)).toEqual([false, false, true, true, true]);
  });
});
