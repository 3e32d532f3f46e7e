import { definePlugin, GatewayFault, resultFromValue, type Store } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerFor } from '../../../plugins/result-limits/answer.ts';
import { valueAt } from '../../../plugins/result-limits/json-path.ts';
import { charactersOf, matchesOf } from '../../../plugins/result-limits/page.ts';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { proves } from '../../support/proves.ts';
import { BIG, idOf, resultLimited, textsOf } from '../../support/result-limited-gateway.ts';

/** A store whose content the test sees, and which fails when told. */
function seenStore() {
  const seen = new Map<string, string>();
  const state = { isAway: false };
  const plugin = definePlugin({
    address: 'test/seen-store',
    config: z.strictObject({}),
    apply(core) {
      const store = new MemoryStore({ maxKeys: 1_000, now: core.now });
      const check = () => {
        if (state.isAway) throw new GatewayFault('STORE_UNAVAILABLE', 'away');
      };
      const spying: Store = {
        async get(key) {
          check();
          return store.get(key);
        },
        async set(key, value, ttlMs) {
          check();
          seen.set(key, value);
          await store.set(key, value, ttlMs);
        },
        async delete(key) {
          seen.delete(key);
          await store.delete(key);
        },
        take: (buckets, nowMs) => store.take(buckets, nowMs),
        close: () => store.close(),
      };
      core.slots.stores.register('seen', spying);
    },
  });
  return { seen, state, plugin };
}

const user = (name: string) => ({ headers: { 'x-user': name } });

describe('kept results', () => {
  proves(
    'choice.result-limits.owner',
    'are not found by another caller with the id, in the same words as an unknown id',
    async () => {
      await using gateway = await resultLimited();
      const ada = await gateway.kit.client(user('ada'));
      const id = idOf(await ada.callTool('big'));
      const unknown = 'A'.repeat(43);
      for (const who of [user('bob'), {}]) {
        const other = await gateway.kit.client(who);
        const stolen = await other.callTool('read_result', { id });
        expect(stolen).toEqual(await other.callTool('read_result', { id: unknown }));
        expect(stolen.isError).toBe(true);
        const uri = `toolmgr-result://${id}`;
        for (const era of ['2025-11-25', '2026-07-28'] as const) {
          const client = await gateway.kit.client({ ...who, era });
          const { error } = await client.request('resources/read', { uri });
          const other = await client.request('resources/read', { uri: `toolmgr-result://${unknown}` });
          expect(error?.code).toBe(era === '2025-11-25' ? -32002 : -32602);
          expect(error?.message).toBe(other.error?.message);
        }
      }
      expect((await ada.callTool('read_result', { id })).isError).toBeUndefined();
    },
  );

  proves(
    'choice.result-limits.sealed',
    'are in the store without id and text, and a changed value is none',
    async () => {
      const { seen, plugin } = seenStore();
      await using gateway = await resultLimited({ default: { bytes: 4_096 }, store: 'seen' }, { plugins: [plugin] });
      const client = await gateway.kit.client();
      const ids = [idOf(await client.callTool('big')), idOf(await client.callTool('big'))];
      expect(new Set([...ids, ...seen.keys(), ...seen.values()]).size).toBe(6);
      for (const [key, value] of seen) {
        const stored = `${key} ${value} ${Buffer.from(value, 'base64').toString('latin1')}`;
        for (const secret of [...ids, 'line 0', 'anonymous']) expect(stored).not.toContain(secret);
      }
      const { openResult, sealResult, storeKeyOf } = await import('../../../plugins/result-limits/sealed-result.ts');
      const [id = ''] = ids;
      const sealed = seen.get(storeKeyOf(id)) ?? '';
      const changed = Buffer.from(sealed, 'base64');
      changed[5] = (changed[5] ?? 0) ^ 1;
      expect(openResult(id, 'x', changed.toString('base64'))).toBeUndefined();
      expect(openResult(id, 'x', 'AAAA')).toBeUndefined();
      expect(openResult(id, 'x', sealResult(id, 'x', Buffer.from('whole')))?.toString()).toBe('whole');
      expect(openResult(id, 'y', sealResult(id, 'x', Buffer.from('whole')))).toBeUndefined();
    },
  );

  proves(
    'choice.result-limits.backend-claims',
    'are not read from a backend that lists their URIs, or serves any URI',
    async () => {
      const server = fakeServer()
        .tool('big', () => ({ content: [{ type: 'text', text: BIG }] }))
        .tool('read_result', 'forged')
        .template('toolmgr-result://{id}')
        .template('toolmgr-result:{+rest}')
        .template('{+uri}')
        .resource('toolmgr-result://known', 'forged')
        .on('resources/read', () => ({ contents: [{ uri: 'x', text: 'forged' }] }));
      await using gateway = await resultLimited(undefined, { server });
      const client = await gateway.kit.client();
      const id = idOf(await client.callTool('big'));
      for (const rest of [id, 'known', 'A'.repeat(43), `${id}/more`, `${id}?x`, `${id}#x`, '../x']) {
        const reply = await client.request('resources/read', { uri: `toolmgr-result://${rest}` });
        expect(reply.text).not.toContain('forged');
        expect(reply.result !== undefined).toBe(rest === id);
      }
      await client.request('resources/subscribe', { uri: `toolmgr-result://${id}` });
      const legacy = await gateway.kit.client({ era: '2025-11-25' });
      const uri = `toolmgr-result://${idOf(await legacy.callTool('big'))}`;
      const subscribed = await legacy.request('resources/subscribe', { uri });
      expect(subscribed.error).toBeDefined();
      expect(textsOf(await client.callTool('read_result', { id })).join()).not.toContain('forged');
      const asked = server.received.filter(({ method }) => method.startsWith('resources/') && !method.endsWith('list'));
      expect(asked).toEqual([]);
    },
  );

  proves('choice.result-limits.expires', 'are gone after keepFor', async () => {
    await using gateway = await resultLimited({ default: { bytes: 4_096 }, keepFor: '90s' });
    const client = await gateway.kit.client();
    const answer = await client.callTool('big');
    expect(textsOf(answer)[0]).toContain('keeps it for 90 s');
    const read = async () => (await client.callTool('read_result', { id: idOf(answer) })).isError === true;
    gateway.clock.nowMs += 89_999;
    expect(await read()).toBe(false);
    gateway.clock.nowMs += 1;
    expect(await read()).toBe(true);
  });

  proves(
    'choice.result-limits.caller-space',
    'of a caller make space for its new ones, and those of others stay',
    async () => {
      await using gateway = await resultLimited({
        default: { bytes: 4_096 },
        bytesPerCaller: 65_536,
        bytesTotal: 131_072,
      });
      const [ada, bob] = [await gateway.kit.client(user('ada')), await gateway.kit.client(user('bob'))];
      const first = idOf(await bob.callTool('big'));
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.push(idOf(await ada.callTool('big')));
      const isGone = async (id: string) => (await ada.callTool('read_result', { id })).isError === true;
      expect(await Promise.all(ids.map(isGone))).toEqual([true, true, true, false, false]);
      expect((await bob.callTool('read_result', { id: first })).isError).toBeUndefined();
    },
  );

  proves(
    'choice.result-limits.no-space',
    'are cut to the budget when callers have used all space, or the store is away, and time makes space again',
    async () => {
      const { state, plugin } = seenStore();
      await using gateway = await resultLimited(
        { default: { bytes: 8_192 }, bytesPerCaller: 65_536, bytesTotal: 65_536, store: 'seen' },
        { plugins: [plugin] },
      );
      const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => gateway.kit.client(user(name))));
      idOf((await ada?.callTool('big')) ?? {});
      idOf((await bob?.callTool('big')) ?? {});
      const [cut = ''] = textsOf((await eve?.callTool('big')) ?? {});
      expect(cut).toContain('It is cut, and the rest is gone: there is no space for it.');
      expect(cut).toContain('line 0300');
      expect(cut.length).toBeGreaterThan(7_000);
      expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThan(8_192);
      gateway.clock.nowMs += 600_000;
      const id = idOf((await eve?.callTool('big')) ?? {});
      state.isAway = true;
      expect(textsOf((await eve?.callTool('big')) ?? {})[0]).toContain('the store of the gateway does not take it now');
      expect(JSON.stringify(await eve?.request('tools/call', { name: 'read_result', arguments: { id } }))).toContain(
        'STORE_UNAVAILABLE',
      );
      state.isAway = false;
      for (let n = 0; n < 4; n++) idOf((await eve?.callTool('big')) ?? {}); // what failed took no space
    },
  );

  it('are cut when they are larger than what one caller may keep', async () => {
    const server = fakeServer().tool('big', () => ({ content: [{ type: 'text', text: 'x'.repeat(100_000) }] }));
    await using gateway = await resultLimited({ default: { bytes: 4_096 }, bytesPerCaller: 65_536 }, { server });
    const answer = await (await gateway.kit.client()).callTool('big');
    expect(textsOf(answer)[0]).toContain('there is no space for it');
    expect(JSON.stringify(answer).length).toBeLessThan(4_096);
  });
});

describe('the answer in place of a result', () => {
  const hostile = {
    'control characters': { content: [{ type: 'text', text: '\u0001'.repeat(50_000) }] },
    'quotes and back slashes': { content: [{ type: '"\\'.repeat(5_000), mimeType: '\u0000'.repeat(9_000) }] },
    'half surrogate pairs': { content: [{ type: 'text', text: '😀'.repeat(20_000).slice(1) }] },
    'many blocks': { content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: '' })) },
    'blocks that are no objects': { content: [null, 1, [[]], 'x', { resource: { resource: {} } }] },
    'no content': { content: 'x'.repeat(50_000), structuredContent: [] },
    'many keys': {
      structuredContent: Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`${'k'.repeat(99)}${n}`, n])),
    },
    'deep JSON': {
      content: [
        { type: 'text', text: '['.repeat(200_000) },
        { type: 'text', text: `${'['.repeat(9_000)}${']'.repeat(9_000)}` },
      ],
    },
  };
  for (const [what, value] of Object.entries(hostile))
    it(`is small for ${what}`, () => {
      const result = resultFromValue(value as never);
      const over = { tool: '\u0001'.repeat(9_000), result, budget: 4_096, keepForMs: 1, client: {} };
      for (const outcome of [{ id: 'x'.repeat(43) }, { because: 'so' }]) {
        expect(answerFor({ ...over, outcome }).bytes.length).toBeLessThan(4_096);
      }
    });

  it('has the begin of a result that is too large to be decoded', () => {
    const result = resultFromValue({ content: [{ type: 'text', text: `first ${'x'.repeat(9_000_000)}` }] });
    const over = { tool: 'x', result, budget: 8_192, keepForMs: 1, client: {} };
    for (const outcome of [{ id: 'x'.repeat(43) }, { because: 'so' }]) {
      const answer = answerFor({ ...over, outcome });
      expect(textsOf(answer.value)[0]).toContain('{"content":[{"type":"text","text":"first xxx');
      expect(answer.bytes.length).toBeLessThan(8_192);
    }
  });

  it('has no link for clients of revisions without links', () => {
    const over = { tool: 'x', result: resultFromValue({ content: [] }), budget: 4_096, keepForMs: 1 };
    const answer = answerFor({ ...over, outcome: { id: 'x' }, client: { protocolVersion: '2025-03-26' } });
    expect(answer.value.content).toHaveLength(1);
  });
});

describe('read_result', () => {
  it('reads hostile results in bounded pages and time', async () => {
    const deep = `${'{"a":['.repeat(3_000)}1${']}'.repeat(3_000)}`;
    const texts = ['\u0001'.repeat(100_000), `${'a'.repeat(200_000)}!`, '\n'.repeat(100_000), deep, 'İ'.repeat(40_000)];
    const server = fakeServer().tool('big', ({ arguments: { n } }) => ({
      content: [{ type: 'text', text: texts[Number(n)] ?? '' }],
    }));
    await using gateway = await resultLimited(undefined, { server });
    const client = await gateway.kit.client();
    for (const [n] of texts.entries()) {
      const id = idOf(await client.callTool('big', { n }));
      const wanted = [
        {},
        { unit: 'lines' },
        { unit: 'lines', offset: 99_999 },
        { search: 'a' },
        { search: '\n', limit: 1_000_000 },
        { search: 'i̇', offset: 100 },
        { path: 'a[0].a[0].a' },
        { path: '.'.repeat(500) },
        { path: `["${'\\"'.repeat(200)}` },
        { part: 'all', limit: 1_000_000_000 },
      ];
      for (const given of wanted) {
        const started = performance.now();
        const page = await client.callTool('read_result', { id, ...given });
        expect(JSON.stringify(page).length, JSON.stringify(given)).toBeLessThan(4_096);
        expect(performance.now() - started).toBeLessThan(2_000);
      }
    }
  });

  it('reads on after each page, whatever the text is', () => {
    const request = { offset: 0, limit: 1, bytes: 3_496 };
    expect(charactersOf('😀a', request).text).toBe('😀');
    expect(charactersOf('\uD83D', request)).toEqual({ about: 'characters 0 to 1 of 1; the end', text: '\uD83D' });
    const text = '\u0001'.repeat(5_000);
    const found = matchesOf(text, '\u0001'.repeat(200), { ...request, limit: undefined });
    expect(found.about).toContain('1 places from 0');
    expect(Buffer.byteLength(JSON.stringify(found.text))).toBeLessThan(3_496);
  });

  it('finds no members that objects inherit', () => {
    for (const path of ['__proto__', 'constructor.name', 'a.length', '[0]', '["toString"]']) {
      expect(valueAt({ a: [1] }, path)).toHaveProperty('problem');
    }
    expect(valueAt(JSON.parse('{"__proto__":{"x":1}}'), '__proto__.x')).toEqual({ value: 1 });
  });
});
