import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type AuthStorage, MAX_MEMBERS } from '../../plugins/auth-server/storage/storage.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** Long enough to be read before it ends, also on a busy machine. */
const SHORT = 1_000;

/** Tests for every storage of the authorization server. Each uses keys of its own, so that one storage serves all. */
export function authStorageContract(given: () => AuthStorage): void {
  const newKey = () => `record:${randomUUID()}`;
  const valueAt = async (key: string) => (await given().get(key))?.value;

  it('has nothing under an unknown key', async () => {
    const key = newKey();
    expect(await given().get(key)).toBeUndefined();
    expect(await given().take(key)).toBeUndefined();
    expect(await given().members(key)).toEqual([]);
    await given().delete(key);
    await given().touch(key, MINUTE);
    await given().removeMember(key, 'a');
    expect(await given().get(key)).toBeUndefined();
  });

  it.each([
    {},
    { text: 'ä 😀 \u0000 \n "', number: -1.5e300, list: [null, true, { deep: [] }] },
    { big: 'x'.repeat(200_000) },
    JSON.parse('{"__proto__":{"a":1},"constructor":2}') as object,
  ])('returns the value that was set, case %#', async (value) => {
    const key = newKey();
    await given().set(key, value as never, MINUTE);
    expect(JSON.stringify(await valueAt(key))).toBe(JSON.stringify(value));
  });

  it('tells all who listen what is announced, until they stop', async () => {
    const storage = given();
    const heard: string[][] = [[], []];
    const [stop, stopOther] = heard.map((texts) => storage.listen((text) => texts.push(text)));
    const text = `{"ä":"${randomUUID()}"}`;
    await until(async () => {
      await storage.announce('first'); // no replica gets what is announced before a new listener is connected
      return heard.every(([first]) => first === 'first');
    });
    stop?.();
    await storage.announce(text);
    await until(() => heard[1]?.includes(text) ?? false);
    expect(heard[0]).not.toContain(text);
    stopOther?.();
  });

  it('keeps its own copy of a value', async () => {
    const [storage, key] = [given(), newKey()];
    const value = { list: [1] };
    await storage.set(key, value, MINUTE);
    value.list.push(2);
    ((await valueAt(key)) as typeof value).list.push(3);
    expect(await valueAt(key)).toEqual({ list: [1] });
  });

  it('distinguishes similar keys', async () => {
    const key = newKey();
    for (const end of ['', ':', ':a', '__proto__', ' ']) await given().set(key + end, { end }, MINUTE);
    for (const end of ['', ':', ':a', '__proto__', ' ']) expect(await valueAt(key + end)).toEqual({ end });
  });

  it('ends a record at its time, and keeps one without a time', async () => {
    const [storage, short, long] = [given(), newKey(), newKey()];
    await storage.set(short, { a: 1 }, SHORT);
    await storage.set(long, { a: 1 }, undefined);
    expect(await valueAt(short)).toEqual({ a: 1 });
    await until(async () => (await valueAt(short)) === undefined);
    expect(await valueAt(long)).toEqual({ a: 1 });
    expect(await storage.add(short, { a: 2 }, MINUTE)).toBe(true);
  });

  it.each([0, -5, 0.2])('accepts a time to live of %d ms, which has ended at once', async (ttlMs) => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { a: 1 }, ttlMs);
    await until(async () => (await valueAt(key)) === undefined);
  });

  it('gives a record a new time with set, replace and touch', async () => {
    const storage = given();
    const keys = [newKey(), newKey(), newKey()] as const;
    for (const key of keys) await storage.set(key, { a: 1 }, SHORT);
    await storage.set(keys[0], { a: 2 }, MINUTE);
    const before = await storage.get(keys[1]);
    expect(before !== undefined && (await storage.replace(keys[1], before, { a: 2 }, MINUTE))).toBe(true);
    await storage.touch(keys[2], MINUTE);
    await pause(SHORT * 1.5);
    expect(await Promise.all(keys.map(valueAt))).toEqual([{ a: 2 }, { a: 2 }, { a: 1 }]);
  });

  it('shortens the time of a record with touch', async () => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { a: 1 }, MINUTE);
    await storage.touch(key, 1);
    await until(async () => (await valueAt(key)) === undefined);
  });

  it('writes with add only where there is no record; of parallel ones one wins', async () => {
    const [storage, key] = [given(), newKey()];
    const won = await Promise.all(Array.from({ length: 20 }, (_, n) => storage.add(key, { n }, MINUTE)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await valueAt(key)).toEqual({ n: won.indexOf(true) });
    await storage.delete(key);
    expect(await storage.add(key, { n: 99 }, MINUTE)).toBe(true);
  });

  it('replaces only the record that was read; of parallel ones one wins', async () => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { n: -1 }, MINUTE);
    const before = await storage.get(key);
    if (before === undefined) throw new Error('no record');
    const won = await Promise.all(Array.from({ length: 20 }, (_, n) => storage.replace(key, before, { n }, MINUTE)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await valueAt(key)).toEqual({ n: won.indexOf(true) });
    expect(await storage.replace(key, before, { n: 99 }, MINUTE)).toBe(false);
  });

  it('does not replace a record that has the same value but was written again, deleted or never there', async () => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { a: 1 }, MINUTE);
    const before = await storage.get(key);
    if (before === undefined) throw new Error('no record');
    await storage.set(key, { a: 1 }, MINUTE);
    expect(await storage.replace(key, before, { a: 2 }, MINUTE)).toBe(false);
    await storage.delete(key);
    expect(await storage.replace(key, before, { a: 2 }, MINUTE)).toBe(false);
    expect(await storage.replace(newKey(), before, { a: 2 }, MINUTE)).toBe(false);
    expect(await valueAt(key)).toBeUndefined();
  });

  it('counts every increment of parallel writers that repeat until they win', async () => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { n: 0 }, MINUTE);
    const increment = async (): Promise<void> => {
      for (;;) {
        const before = await storage.get(key);
        if (before === undefined) throw new Error('no record');
        if (await storage.replace(key, before, { n: Number(before.value.n) + 1 }, MINUTE)) return;
      }
    };
    await Promise.all(Array.from({ length: 25 }, increment));
    expect(await valueAt(key)).toEqual({ n: 25 });
  });

  it('gives a record that is taken to one caller', async () => {
    const [storage, key] = [given(), newKey()];
    await storage.set(key, { a: 1 }, MINUTE);
    const taken = await Promise.all(Array.from({ length: 20 }, () => storage.take(key)));
    expect(taken.filter((record) => record !== undefined).map(({ value }) => value)).toEqual([{ a: 1 }]);
    const before = taken.find((record) => record !== undefined);
    expect(await storage.get(key)).toBeUndefined();
    expect(before !== undefined && (await storage.replace(key, before, { a: 2 }, MINUTE))).toBe(false);
    await storage.touch(key, MINUTE);
    expect(await storage.get(key)).toBeUndefined();
    expect(await storage.add(key, { a: 3 }, undefined)).toBe(true);
    expect((await storage.take(key))?.value).toEqual({ a: 3 });
  });

  describe('has sets that', () => {
    it('hold members once, and lose them', async () => {
      const [storage, key] = [given(), newKey()];
      for (const member of ['a', 'b', 'a', 'ä:😀 ', '']) await storage.addMember(key, member, MINUTE);
      expect([...(await storage.members(key))].sort()).toEqual(['', 'a', 'b', 'ä:😀 '].sort());
      await storage.removeMember(key, 'a');
      await storage.removeMember(key, 'never');
      expect(await storage.members(key)).toHaveLength(3);
    });

    it('live at least as long as each member asked for', async () => {
      const [storage, longer, forever, short] = [given(), newKey(), newKey(), newKey()];
      await storage.addMember(longer, 'a', MINUTE);
      await storage.addMember(longer, 'b', SHORT);
      await storage.addMember(forever, 'a', undefined);
      await storage.addMember(forever, 'b', SHORT);
      await storage.addMember(short, 'a', SHORT);
      await until(async () => (await storage.members(short)).length === 0);
      await pause(SHORT / 2);
      expect(await storage.members(longer)).toHaveLength(2);
      expect(await storage.members(forever)).toHaveLength(2);
      await storage.addMember(short, 'again', SHORT);
      expect(await storage.members(short)).toEqual(['again']);
    });

    it('begin again with a new time after their last member was removed', async () => {
      const [storage, key] = [given(), newKey()];
      await storage.addMember(key, 'a', undefined);
      await storage.removeMember(key, 'a');
      await storage.addMember(key, 'b', SHORT);
      await until(async () => (await storage.members(key)).length === 0);
    });

    it('have a maximum of members', async () => {
      const [storage, key] = [given(), newKey()];
      for (let from = 0; from < MAX_MEMBERS; from += 1000) {
        await Promise.all(Array.from({ length: 1000 }, (_, n) => storage.addMember(key, `m${from + n}`, MINUTE)));
      }
      await expect(storage.addMember(key, 'more', MINUTE)).rejects.toMatchObject({ code: 'STORE_FULL' });
      await storage.addMember(key, 'm1', MINUTE);
      await storage.removeMember(key, 'm1');
      await storage.addMember(key, 'more', MINUTE);
      expect(await storage.members(key)).toHaveLength(MAX_MEMBERS);
    });
  });
}
