import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { proves } from '../../../support/proves.ts';
import { clientsOnMemory, register } from './registering.ts';

const GOOD = { redirect_uris: ['https://app.example/cb'] };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Fills all 10 000 places from many networks. */
async function full({ apartMs = 0 } = {}) {
  const made = clientsOnMemory();
  const ids: string[] = [];
  for (let n = 0; n < 13_000; n++) {
    made.clock.nowMs += apartMs;
    const { status, json } = await register(made.clients, GOOD, {
      address: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    });
    if (status === 201) ids.push(String(json.client_id));
  }
  return { ...made, ids };
}

describe('registration floods', () => {
  proves('choice.clients.network-limit', 'limits one address and not the others', async () => {
    const { clients, clock } = clientsOnMemory();
    const statuses: number[] = [];
    for (let n = 0; n < 25; n++) statuses.push((await register(clients, GOOD, { address: '192.0.2.1' })).status);
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(429)]);
    const refused = await register(clients, GOOD, { address: '192.0.2.1' });
    expect([refused.headers['retry-after'], refused.json.error]).toEqual(['1', 'temporarily_unavailable']);
    expect((await register(clients, GOOD, { address: '192.0.2.2' })).status).toBe(201);
    clock.nowMs += 1_000;
    expect((await register(clients, GOOD, { address: '192.0.2.1' })).status).toBe(201);
  });

  it('counts all addresses of one IPv6 network as one', async () => {
    const { clients } = clientsOnMemory();
    const statuses: number[] = [];
    for (let n = 0; n < 22; n++)
      statuses.push((await register(clients, GOOD, { address: `2001:db8::${n + 1}` })).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  it('limits requests that are refused too', async () => {
    const { clients } = clientsOnMemory();
    for (let n = 0; n < 20; n++) expect((await register(clients, '{')).status).toBe(400);
    expect((await register(clients, '{')).status).toBe(429);
  });

  proves('choice.clients.capacity', 'keeps at most 10 000 clients and never evicts one that got a token', async () => {
    const { clients, clock, ids } = await full();
    expect(ids.length).toBeGreaterThan(9_900);
    expect(ids.length).toBeLessThanOrEqual(10_000);
    const answered = await register(clients, GOOD, { address: '192.0.2.9' });
    expect([answered.status, answered.headers['retry-after']]).toEqual([503, '3600']);
    const [used = ''] = ids;
    await clients.used(used);
    clock.nowMs += HOUR_MS + 1;
    expect((await register(clients, GOOD, { address: '192.0.2.9' })).status).toBe(201);
    for (let n = 0; n < 2_000; n++) await register(clients, GOOD, { address: `10.9.${n >> 8}.${n & 255}` });
    expect(await clients.find(used, undefined)).toBeDefined();
    const left = await Promise.all(ids.map((id) => clients.find(id, undefined)));
    expect(left.filter((client) => client === undefined).length).toBeGreaterThan(1_000);
  });

  proves('choice.clients.capacity', 'evicts the clients first that registered first', async () => {
    const { clients, clock, ids } = await full({ apartMs: 1 });
    clock.nowMs += HOUR_MS + 1;
    for (let n = 0; n < 1_000; n++) await register(clients, GOOD, { address: `10.9.${n >> 8}.${n & 255}` });
    const isEvicted = async (id: string): Promise<boolean> => (await clients.find(id, undefined)) === undefined;
    const evictedOf = async (some: readonly string[]): Promise<number> =>
      (await Promise.all(some.map(isEvicted))).filter(Boolean).length;
    expect(await evictedOf(ids.slice(0, 500))).toBeGreaterThan(400);
    expect(await evictedOf(ids.slice(5_000))).toBe(0);
  });

  proves('choice.clients.life', 'ends a client 30 days after its last token', async () => {
    const { clients, clock } = clientsOnMemory();
    const { json } = await register(clients, GOOD);
    const id = String(json.client_id);
    for (let n = 0; n < 3; n++) {
      clock.nowMs += 29 * DAY_MS;
      expect(await clients.find(id, undefined)).toBeDefined();
      await clients.used(id);
    }
    clock.nowMs += 30 * DAY_MS;
    expect(await clients.find(id, undefined)).toBeUndefined();
  });

  it('reads nothing for an id that it did not make', async () => {
    const seen: string[] = [];
    const storage = createMemoryStorage(Date.now);
    const { clients } = clientsOnMemory({ storage: { ...storage, get: async (key) => void seen.push(key) as never } });
    for (const id of ['x', '../client', `${'a'.repeat(5000)}`, 'client:1', ''])
      expect(await clients.find(id, undefined)).toBeUndefined();
    expect(seen).toEqual([]);
  });
});
