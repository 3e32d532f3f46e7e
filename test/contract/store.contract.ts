import type { Bucket, Store } from '@toolmgr/core';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** A store under test and the clock it reads. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Moves the store's clock; the expiry of values may also follow real time. */
  advance(ms: number): Promise<void> | void;
  nowMs(): number;
}

/** Tests for every implementation of the slot `stores`. */
export function storeContract(open: () => Promise<StoreUnderTest>): void {
  let under: StoreUnderTest;
  beforeEach(async () => {
    under = await open();
  });
  afterEach(() => under.store.close().catch(() => {}));

  const take = (...buckets: Bucket[]) => under.store.take(buckets, under.nowMs());
  const bucket = (key: string, capacity: number, refillPeriodMs: number): Bucket => ({ key, capacity, refillPeriodMs });

  it('returns undefined for an unknown key', async () => {
    expect(await under.store.get('never')).toBeUndefined();
  });

  it('returns exactly the text that was set', async () => {
    for (const text of ['', 'plain', '{"a":1}', 'ä 😀 \u0000 \n', 'x'.repeat(100_000)]) {
      await under.store.set('key', text, MINUTE);
      expect(await under.store.get('key')).toBe(text);
    }
  });

  it('distinguishes similar keys', async () => {
    await under.store.set('a', '1', MINUTE);
    await under.store.set('a:b', '2', MINUTE);
    await under.store.set('__proto__', '3', MINUTE);
    expect(await Promise.all(['a', 'a:b', '__proto__', 'constructor'].map((key) => under.store.get(key)))).toEqual([
      '1',
      '2',
      '3',
      undefined,
    ]);
  });

  it('expires a value at its time and not before', async () => {
    await under.store.set('key', 'value', 10 * MINUTE);
    await under.advance(9 * MINUTE);
    expect(await under.store.get('key')).toBe('value');
    await under.advance(MINUTE);
    expect(await under.store.get('key')).toBeUndefined();
  });

  it('restarts the time to live when a key is set again', async () => {
    await under.store.set('key', 'old', 10 * MINUTE);
    await under.advance(9 * MINUTE);
    await under.store.set('key', 'new', 10 * MINUTE);
    await under.advance(9 * MINUTE);
    expect(await under.store.get('key')).toBe('new');
  });

  it('restarts the time to live only when a key is read with a new one', async () => {
    await under.store.set('read', 'value', 10 * MINUTE);
    await under.store.set('kept', 'value', 10 * MINUTE);
    await under.advance(9 * MINUTE);
    expect([await under.store.get('read'), await under.store.get('kept', 10 * MINUTE)]).toEqual(['value', 'value']);
    await under.advance(9 * MINUTE);
    expect([await under.store.get('read'), await under.store.get('kept')]).toEqual([undefined, 'value']);
    await under.advance(MINUTE);
    expect(await under.store.get('kept')).toBeUndefined();
  });

  it('does not restore an expired value that is read with a time to live', async () => {
    await under.store.set('key', 'value', 10 * MINUTE);
    await under.store.delete('key');
    expect(await under.store.get('key', 10 * MINUTE)).toBeUndefined();
    await under.store.set('key', 'value', 10 * MINUTE);
    await under.advance(10 * MINUTE);
    expect(await under.store.get('key', 10 * MINUTE)).toBeUndefined();
    expect(await under.store.get('key')).toBeUndefined();
  });

  it('deletes a value, and accepts the deletion of an unknown key', async () => {
    await under.store.set('key', 'value', MINUTE);
    await under.store.delete('key');
    await under.store.delete('key');
    expect(await under.store.get('key')).toBeUndefined();
  });

  it('grants the whole capacity at once, then returns the wait for one token', async () => {
    const minute = bucket('b', 3, 60_000);
    expect([await take(minute), await take(minute), await take(minute)]).toEqual([0, 0, 0]);
    expect(await take(minute)).toBe(20_000);
  });

  it('grants again after exactly the returned wait', async () => {
    const slow = bucket('b', 1, 7_000);
    await take(slow);
    const waitMs = await take(slow);
    expect(waitMs).toBe(7_000);
    await under.advance(waitMs - 1);
    expect(await take(slow)).toBe(1);
    await under.advance(1);
    expect(await take(slow)).toBe(0);
  });

  it('counts fractions of a token', async () => {
    const one = bucket('b', 1, 10_000);
    await take(one);
    await under.advance(4_000);
    expect(await take(one)).toBe(6_000);
  });

  it('never holds more than the capacity, after any idle time', async () => {
    const two = bucket('b', 2, 1_000);
    await take(two);
    await under.advance(3_600_000);
    expect([await take(two), await take(two)]).toEqual([0, 0]);
    expect(await take(two)).toBeGreaterThan(0);
  });

  it('grants exactly capacity plus refill over a long time', async () => {
    const ten = bucket('b', 10, 1_000);
    let granted = 0;
    for (let elapsed = 0; elapsed <= 10_000; elapsed += 10) {
      while ((await take(ten)) === 0) granted++;
      await under.advance(10);
    }
    expect(granted).toBe(10 + 100);
  });

  it('takes from no bucket when one of them is empty', async () => {
    const narrow = bucket('narrow', 1, 10_000);
    const wide = bucket('wide', 2, 10_000);
    expect(await take(narrow, wide)).toBe(0);
    expect(await take(wide, narrow)).toBe(10_000);
    expect(await take(narrow, wide)).toBe(10_000);
    expect(await take(wide)).toBe(0);
  });

  it('names the longest wait of several buckets', async () => {
    const short = bucket('short', 1, 4_000);
    const long = bucket('long', 1, 9_000);
    await take(short, long);
    expect(await take(short, long)).toBe(9_000);
  });

  it('takes twice from a bucket that is named twice', async () => {
    const two = bucket('b', 2, 10_000);
    expect(await take(two, two)).toBe(0);
    expect(await take(two)).toBe(5_000);
  });

  it('grants a request without buckets', async () => {
    expect(await take()).toBe(0);
  });

  it('keeps buckets and values with one key separate', async () => {
    await under.store.set('key', 'value', MINUTE);
    await take(bucket('key', 1, MINUTE));
    expect(await under.store.get('key')).toBe('value');
    await under.store.delete('key');
    expect(await take(bucket('key', 1, MINUTE))).toBeGreaterThan(0);
  });

  it('loses no token when the clock steps back', async () => {
    const two = bucket('b', 2, MINUTE);
    expect(await take(two)).toBe(0);
    expect(await under.store.take([two], under.nowMs() - 500_000)).toBe(0);
    expect(await under.store.take([two], under.nowMs() - 500_000)).toBeGreaterThan(0);
  });

  it('grants no token twice to concurrent calls', async () => {
    const five = bucket('b', 5, 60_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => take(five)));
    expect(answers.filter((waitMs) => waitMs === 0)).toHaveLength(5);
  });

  it('refuses with STORE_UNAVAILABLE after it is closed', async () => {
    await under.store.close();
    await expect(under.store.get('key')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(under.store.set('key', 'value', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(under.store.take([], 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('may be closed twice', async () => {
    await under.store.close();
    await under.store.close();
  });
}

const MINUTE = 60_000;
