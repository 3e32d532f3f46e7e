import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { fixture, stdioBackend } from '../backend/support.ts';

/** One process per backend session, so its pid says which session answered. */
const pids = () => testGateway({ backends: { odd: stdioBackend('odd', fixture('odd-server.ts')) } });

const ODD_TOOL = 'pid';

describe('a client session', () => {
  proves(
    ['choice.session.backend-session-kept', 'choice.session.backend-session-separate'],
    'has one backend session for all its calls, and none in common with another',
    async () => {
      await using kit = await pids();
      const pidOf = async (client: Awaited<ReturnType<typeof kit.client>>): Promise<unknown> =>
        ((await client.callTool(ODD_TOOL)).content as { text: string }[])[0]?.text;
      const one = await kit.client({ era: '2025-11-25' });
      const two = await kit.client({ era: '2025-11-25' });
      const [ofOne, ofTwo] = await Promise.all([pidOf(one), pidOf(two)]);
      expect(ofOne).not.toBe(ofTwo);
      for (let round = 0; round < 3; round++) {
        expect(await Promise.all([pidOf(one), pidOf(two), pidOf(one)])).toEqual([ofOne, ofTwo, ofOne]);
      }
      const third = await kit.client({ era: '2025-11-25' });
      expect([ofOne, ofTwo]).not.toContain(await pidOf(third));
    },
  );

  proves('choice.session.delete-closes-backends', 'closes its backend sessions when it is deleted', async () => {
    await using kit = await pids();
    const client = await kit.client({ era: '2025-11-25' });
    const other = await kit.client({ era: '2025-11-25' });
    await other.callTool(ODD_TOOL);
    const [{ text: pid = '' } = {}] = (await client.callTool(ODD_TOOL)).content as { text?: string }[];
    const isThere = (): boolean => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    expect(isThere()).toBe(true);
    const { links, sessions } = kit.gateway.counts();
    await client.close();
    await until(() => !isThere());
    expect(kit.gateway.counts()).toMatchObject({ links: links - 1, sessions: sessions - 1 });
    expect((await client.request('ping')).status).toBe(404);
    await other.callTool(ODD_TOOL);
  });

  proves(
    'choice.session.list-after-initialize',
    'sees the full set at once, also when its backends are slow',
    async () => {
      const slow = fakeServer(['2025-11-25']).tool('late');
      const list = { tools: [{ name: 'late', inputSchema: { type: 'object' } }] };
      slow.on('tools/list', () => new Promise((resolve) => setTimeout(() => resolve(list), 100)));
      const quick = fakeServer(['2025-11-25']).tool('quick');
      await using kit = await testGateway({ backends: { slow, quick } });
      for (const capabilities of [{}, { elicitation: {} }, { sampling: {}, roots: {} }]) {
        const session = await legacySession(kit.gateway, capabilities);
        const { result } = await session.request('tools/list');
        expect(result).toMatchObject({ tools: [{ name: 'late' }, { name: 'quick' }] });
      }
    },
  );

  proves(
    ['choice.session.single-page', 'choice.modern.page-size', 'choice.modern.last-page'],
    'gets a long list in one page, and a modern client in pages of a thousand, the last without a cursor',
    async () => {
      const server = fakeServer();
      for (let at = 0; at < 2500; at++) server.tool(`t${String(at).padStart(4, '0')}`);
      await using kit = await testGateway({ backends: { far: server } });
      const legacy = (await (await kit.client({ era: '2025-11-25' })).request('tools/list')).result;
      expect(legacy?.tools).toHaveLength(2500);
      expect(legacy).not.toHaveProperty('nextCursor');
      const client = await kit.client();
      const sizes: number[] = [];
      let last = (await client.request('tools/list')).result;
      sizes.push((last?.tools as unknown[]).length);
      while (last?.nextCursor !== undefined) {
        expect(String(last.nextCursor).length).toBeLessThanOrEqual(512);
        last = (await client.request('tools/list', { cursor: last.nextCursor })).result;
        sizes.push((last?.tools as unknown[]).length);
      }
      expect(sizes).toEqual([1000, 1000, 500]);
      expect(last).not.toHaveProperty('nextCursor');
      expect(await client.toolNames()).toHaveLength(2500);
    },
  );

  proves(
    'choice.session.single-page',
    'gets ten pages of a modern client as one, and the rest by a cursor',
    async () => {
      const server = fakeServer();
      for (let at = 0; at < 11; at++) server.tool(`t${at}`);
      await using kit = await testGateway({ backends: { far: server }, plan: { limits: { pageSize: 1 } } });
      const client = await kit.client({ era: '2025-11-25' });
      const first = (await client.request('tools/list')).result;
      expect(first?.tools).toHaveLength(10);
      const rest = (await client.request('tools/list', { cursor: String(first?.nextCursor) })).result;
      expect(rest?.tools).toHaveLength(1);
      expect(rest).not.toHaveProperty('nextCursor');
    },
  );

  proves('choice.modern.cursor-opaque', 'takes no cursor of another list, and none of its own making', async () => {
    const server = fakeServer();
    for (const name of ['a', 'b', 'c']) server.tool(name).prompt(name, 'x');
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { pageSize: 1 } } });
    const client = await kit.client();
    const cursor = String((await client.request('tools/list')).result?.nextCursor);
    expect((await client.request('tools/list', { cursor })).result?.tools).toMatchObject([{ name: 'b' }]);
    const read = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as object;
    const long = Buffer.from(JSON.stringify({ ...read, more: 'x'.repeat(400) })).toString('base64url');
    expect(long.length).toBeGreaterThan(512);
    const wrong = [long, cursor.slice(1), `${cursor}${'A'.repeat(600)}`, 'b', '1', ''];
    for (const bad of wrong) expect((await client.request('tools/list', { cursor: bad })).error?.code).toBe(-32602);
    expect((await client.request('prompts/list', { cursor })).error?.code).toBe(-32602);
  });
});
