import { randomUUID } from 'node:crypto';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { proves } from '../../support/proves.ts';
import { controllableStore, INITIALIZE, legacy, openAt, replica, request } from '../../support/replicas.ts';

const PING = request('ping');
const ADA = { 'x-caller': 'ada' };
const EVE = { 'x-caller': 'eve' };

async function twoReplicas(limits: object = {}) {
  const store = controllableStore(new MemoryStore({ maxKeys: 5000, now: Date.now }));
  const a = await replica(store, { one: fakeServer() }, limits);
  const b = await replica(store, { one: fakeServer() }, limits);
  const stop = () => Promise.all([a.gateway.stop(), b.gateway.stop()]);
  return { a, b, store, [Symbol.asyncDispose]: async () => void (await stop()) };
}

describe('a caller that uses the session of another', () => {
  proves('choice.session.fixation', 'cannot choose its id beforehand', async () => {
    await using at = await twoReplicas();
    const chosen = randomUUID();
    const opened = await legacy(at.a, chosen, INITIALIZE, ADA);
    expect(opened.headers.get('mcp-session-id')).not.toBe(chosen);
    for (const replica of [at.a, at.b]) expect((await legacy(replica, chosen, PING, ADA)).status).toBe(404);
  });

  proves(
    ['choice.session.owner-bound', 'choice.session.shared-theft'],
    'is refused on every replica, and the session that has leaked ends on all of them',
    async () => {
      for (const thiefAt of ['a', 'b'] as const) {
        await using at = await twoReplicas();
        const id = await openAt(at.a, ADA);
        expect((await legacy(at[thiefAt], id, PING, EVE)).status).toBe(404);
        expect((await legacy(at.a, id, PING, ADA)).status).toBe(404);
        expect((await legacy(at.b, id, PING, ADA)).status).toBe(404);
      }
    },
  );

  proves('choice.session.shared-theft', 'cannot end it from another replica either', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a, ADA);
    expect((await legacy(at.b, id, 'DELETE', EVE)).status).toBe(404);
  });

  proves('choice.session.shared-tampered', 'gets nothing for a record that no gateway wrote', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a, ADA);
    const good = JSON.parse((await at.store.inner.get(id)) ?? '') as Record<string, unknown>;
    const bad = [
      '',
      'null',
      '[]',
      '{',
      '{}',
      JSON.stringify({ ...good, caller: undefined }),
      JSON.stringify({ ...good, caller: '0'.repeat(63) }),
      JSON.stringify({ ...good, capabilities: [] }),
      JSON.stringify({ ...good, protocolVersion: '2026-07-28' }),
      JSON.stringify({ ...good, openedAtMs: '1' }),
      JSON.stringify({ ...good, admin: true }),
      JSON.stringify({ ...good, clientInfo: { name: 'x'.repeat(70_000) } }),
      JSON.stringify({ ...good, caller: '0'.repeat(64) }),
    ];
    for (const text of bad) {
      await at.store.inner.set(id, text, 60_000);
      expect([text.slice(0, 40), (await legacy(at.b, id, PING, ADA)).status]).toEqual([text.slice(0, 40), 404]);
    }
    // a record of one session under the id of another is bound to that other id, not to this one
    const other = await openAt(at.a, ADA);
    await at.store.inner.set(id, (await at.store.inner.get(other)) ?? '', 60_000);
    expect((await legacy(at.b, id, PING, ADA)).status).toBe(404);
  });

  proves('choice.session.shared-keys', 'cannot make the store look up a key of another kind', async () => {
    await using at = await twoReplicas();
    const given = [
      '*',
      '../x',
      '\u0001',
      'x'.repeat(5000),
      `${randomUUID()}0`,
      randomUUID().toUpperCase(),
      '__proto__',
    ];
    for (const id of given.filter((text) => !/[^ -~]/.test(text))) {
      expect((await legacy(at.a, id, PING, ADA)).status).toBe(404);
    }
    expect(at.store.asked).toEqual({ gets: 0, sets: 0 });
  });

  proves(
    ['choice.session.bounded', 'choice.session.shared-flood', 'choice.share.sessions'],
    'keeps no more than limits.sessions of 1,000 on one replica, and cannot push others out from another',
    async () => {
      await using at = await twoReplicas({ sessions: 100 });
      const own = await openAt(at.b, ADA);
      const all = await Promise.all(Array.from({ length: 1000 }, () => legacy(at.a, undefined, INITIALIZE, EVE)));
      const ids = all.flatMap(({ headers }) => headers.get('mcp-session-id') ?? []);
      expect(ids).toHaveLength(1000);
      const records = await Promise.all(ids.map((id) => at.store.inner.get(id)));
      expect(records.filter((record) => record !== undefined)).toHaveLength(100);
      const moved = await Promise.all(ids.map((id) => legacy(at.b, id, PING, EVE)));
      expect(moved.filter(({ status }) => status === 200)).toHaveLength(100);
      expect([at.a.gateway.counts().sessions, at.b.gateway.counts().sessions]).toEqual([100, 100]);
      expect((await legacy(at.b, own, PING, ADA)).status).toBe(200);
    },
  );

  proves('choice.session.shared-flood', 'cannot keep large things in the store', async () => {
    await using at = await twoReplicas();
    const clientInfo = { name: 'x'.repeat(70_000), version: '1' };
    const refused = await legacy(at.a, undefined, { ...INITIALIZE, params: { ...INITIALIZE.params, clientInfo } });
    expect([refused.status, at.a.gateway.counts().sessions, at.store.asked.sets]).toEqual([413, 0, 0]);
  });
});
