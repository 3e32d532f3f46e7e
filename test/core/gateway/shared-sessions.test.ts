import { fakeServer, type TestGateway, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { proves } from '../../support/proves.ts';
import {
  type ControllableStore,
  controllableStore,
  INITIALIZE,
  legacy,
  openAt,
  replica,
  request,
} from '../../support/replicas.ts';

const server = () => fakeServer().tool('echo', ({ arguments: { words } }) => text(String(words)));
const CALL = request('tools/call', { name: 'echo', arguments: { words: 'here' } });
const HERE = { content: [{ type: 'text', text: 'here' }] };

async function twoReplicas(limits: object = {}, clock = { now: 1_000_000 }) {
  const now = () => clock.now;
  const store: ControllableStore = controllableStore(new MemoryStore({ maxKeys: 1000, now }));
  const backends = { one: server() };
  const a = await replica(store, backends, limits, now);
  const b = await replica(store, backends, limits, now);
  const stop = () => Promise.all([a.gateway.stop(), b.gateway.stop()]);
  return { a, b, store, clock, [Symbol.asyncDispose]: async () => void (await stop()) };
}

describe('a session whose record is in a store', () => {
  proves('choice.session.shared', 'is served by every replica as the same session', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    for (const replica of [at.b, at.a, at.b]) expect((await legacy(replica, id, CALL)).json.result).toEqual(HERE);
    expect([at.a.gateway.counts().sessions, at.b.gateway.counts().sessions]).toEqual([1, 1]);
  });

  proves('choice.session.shared-end', 'is gone everywhere when its client ends it on one replica', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    await legacy(at.b, id, CALL);
    expect((await legacy(at.b, id, 'DELETE')).status).toBe(200);
    expect((await legacy(at.a, id, CALL)).status).toBe(404);
    expect((await legacy(at.b, id, CALL)).status).toBe(404);
    expect([at.a.gateway.counts().sessions, at.b.gateway.counts().sessions]).toEqual([0, 0]);
  });

  proves(
    'choice.session.shared-end',
    'is served at most limits.sessionCheckMs after another replica ended it',
    async () => {
      await using at = await twoReplicas({ sessionCheckMs: 2_000 });
      const id = await openAt(at.a);
      await legacy(at.b, id, 'DELETE');
      at.clock.now += 1_999;
      expect((await legacy(at.a, id, CALL)).status).toBe(200);
      at.clock.now += 1;
      expect((await legacy(at.a, id, CALL)).status).toBe(404);
    },
  );

  it('asks the store once in limits.sessionCheckMs, not with every call', async () => {
    await using at = await twoReplicas({ sessionCheckMs: 2_000 });
    const id = await openAt(at.a);
    for (let n = 0; n < 50; n++) {
      at.clock.now += 100;
      expect((await legacy(at.a, id, CALL)).status).toBe(200);
    }
    expect(at.store.asked).toEqual({ gets: 2, sets: 1 });
  });

  it('is asked for once by requests that reach a replica together', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    const calls = Array.from({ length: 20 }, (_, n) => legacy(at.b, id, { ...CALL, id: n + 10 }));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(at.store.asked.gets).toBe(1);
    expect(at.b.gateway.counts().sessions).toBe(1);
  });

  proves('choice.session.shared-ttl', 'lives on while any replica uses it, and expires for all of them', async () => {
    await using at = await twoReplicas({ sessionIdleMs: 60_000 });
    const id = await openAt(at.a);
    for (let n = 0; n < 5; n++) {
      at.clock.now += 59_000;
      expect((await legacy(n % 2 === 0 ? at.b : at.a, id, CALL)).status).toBe(200);
    }
    at.clock.now += 60_000;
    expect((await legacy(at.b, id, CALL)).status).toBe(404);
    expect((await legacy(at.a, id, CALL)).status).toBe(404);
  });

  proves('choice.reload.shared-session', 'is shared still when a replica is taken over by its successor', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    await using next = await replica(at.store, { one: server() }, {}, () => at.clock.now, at.a);
    await at.a.gateway.stop();
    expect((await legacy(next, id, CALL)).status).toBe(200);
    const other = await openAt(next);
    expect((await legacy(at.b, other, CALL)).status).toBe(200);
    await legacy(at.b, id, 'DELETE');
    expect((await legacy(next, id, CALL)).status).toBe(404);
    expect(next.logged).toEqual([]);
  });

  it('outlives the replica that opened it', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    await at.a.gateway.stop();
    expect((await legacy(at.b, id, CALL)).status).toBe(200);
  });

  proves(
    'choice.rate-limit.sessions-store-away',
    'continues where it is known while the store is unavailable; other replicas answer 503 until it is back',
    async () => {
      for (const mode of ['away', 'silent'] as const) {
        await using at = await twoReplicas();
        const id = await openAt(at.a);
        at.store.mode = mode;
        const [known, unknown, opened, ended] = [
          await legacy(at.a, id, CALL),
          await legacy(at.b, id, CALL),
          await legacy(at.b, undefined, INITIALIZE),
          await legacy(at.a, id, 'DELETE'),
        ];
        expect(known.json.result).toEqual(HERE);
        for (const refused of [unknown, opened, ended]) {
          expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
          expect(refused.json.error?.message).toContain('the session store does not answer');
        }
        expect(at.b.logged.filter((line) => line.includes('the session store does not answer'))).toHaveLength(1);
        at.store.mode = 'well';
        at.clock.now += 1_000;
        expect((await legacy(at.b, id, CALL)).status).toBe(200);
        expect((await legacy(at.a, id, 'DELETE')).status).toBe(200);
        expect((await legacy(at.b, id, CALL)).status).toBe(404);
      }
    },
  );

  proves('choice.session.shared-lost', 'is written again when the store has lost it', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    await at.store.inner.delete(id);
    expect((await legacy(at.b, id, CALL)).status).toBe(404);
    expect((await legacy(at.a, id, CALL)).status).toBe(200);
    expect((await legacy(at.b, id, CALL)).status).toBe(200);
  });

  proves('choice.session.shared-lost', 'does not come back on a replica that was not asked for long', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a);
    await legacy(at.b, id, CALL);
    await legacy(at.a, id, 'DELETE');
    at.clock.now += 300_000; // the store has forgotten by now that it was ended
    expect((await legacy(at.b, id, CALL)).status).toBe(404);
  });

  proves('choice.session.shared-no-token', 'is kept without a token and without the name of its caller', async () => {
    await using at = await twoReplicas();
    const id = await openAt(at.a, { 'x-caller': 'ada', authorization: 'Bearer t0p-secret' });
    const kept = (await at.store.inner.get(id)) ?? '';
    expect(Object.keys(JSON.parse(kept)).sort()).toEqual([
      'caller',
      'capabilities',
      'clientInfo',
      'openedAtMs',
      'protocolVersion',
    ]);
    const { caller, ...said } = JSON.parse(kept) as { readonly caller: string };
    expect(caller).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(said)).not.toMatch(/ada|t0p-secret/);
  });

  proves('choice.session.shared-owner', 'says so when an answer reaches a replica that has not asked', async () => {
    let answered: unknown;
    const asking = fakeServer(['2025-11-25']).tool('ask', async ({ ask }) => {
      answered = await ask('roots/list', {}).catch((error: unknown) => error);
      return text('asked');
    });
    const store = controllableStore(new MemoryStore({ maxKeys: 1000, now: Date.now }));
    await using a = await replica(store, { one: asking });
    await using b = await replica(store, { one: asking });
    const opened = await legacy(a, undefined, {
      ...INITIALIZE,
      params: { ...INITIALIZE.params, capabilities: { roots: {} } },
    });
    const id = opened.headers.get('mcp-session-id') ?? '';
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': id,
    };
    const body = JSON.stringify(request('tools/call', { name: 'ask' }));
    const response = await a.gateway.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let seen = '';
    const readUntil = async (words: string): Promise<void> => {
      while (!seen.includes(words)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended before ${words}: ${seen}`);
        seen += new TextDecoder().decode(value);
      }
    };
    await readUntil('roots/list');
    const question = JSON.parse(/data: (\{.*roots\/list.*\})/.exec(seen)?.[1] ?? '{}') as { id: number };
    const answer = { jsonrpc: '2.0', id: question.id, result: { roots: [] } };
    const elsewhere = await legacy(b, id, answer);
    expect([elsewhere.status, elsewhere.json.error?.message]).toEqual([409, expect.stringContaining('replica')]);
    expect((await legacy(a, id, answer)).status).toBe(202);
    await readUntil('"asked"');
    expect(answered).toEqual({ roots: [] });
    expect((await legacy(a, id, answer)).status).toBe(202); // late, but of this replica

    const eventId = /id: (\S+)/.exec(seen)?.[1] ?? '';
    const resumed = await b.gateway.fetch(
      new Request('http://localhost/mcp', { headers: { ...headers, 'last-event-id': eventId } }),
    );
    expect([resumed.status, await resumed.text()]).toEqual([400, expect.stringContaining('not on this replica')]);
    const own = await b.gateway.fetch(new Request('http://localhost/mcp', { headers }));
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });

  it('continues the stream of a session on another replica, and says that all lists may have changed', async () => {
    await using at = await twoReplicas();
    const { a, b } = at;
    const id = await openAt(a);
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
    const stream = async (at: TestGateway, more: object, isEnough: (seen: string) => boolean): Promise<string> => {
      const response = await at.gateway.fetch(
        new Request('http://localhost/mcp', { headers: { ...headers, ...more } }),
      );
      expect(response.status).toBe(200);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      let seen = '';
      while (!isEnough(seen)) seen += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      return seen;
    };
    const first = await stream(a, {}, (seen) => seen.includes('retry: '));
    a.gateway.endStreams();
    const [, eventId = ''] = /id: (\S+)/.exec(first) ?? [];
    const isAll = (seen: string): boolean => seen.match(/list_changed/g)?.length === 3;
    const next = await stream(b, { 'last-event-id': eventId }, isAll);
    expect(next).toMatch(/tools\/list_changed[\s\S]*prompts\/list_changed[\s\S]*resources\/list_changed/);
    const own = /id: (\S+)/.exec(next)?.[1] ?? '';
    expect(own.split('-')[0]).not.toBe(eventId.split('-')[0]);
  });
});
