import { fakeClock, fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import type { BackendListing } from '../../../core/backend/backend-manager.ts';
import { clientTtlMs, oldLists } from '../../../core/backend/lists/list-age.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const MODERN = '2026-07-28';

/** A backend whose list the test changes; it says nothing about changes. */
function silentServer(ttlMs: number, eras: readonly ('2025-11-25' | '2026-07-28')[] = [MODERN]) {
  const server = fakeServer(eras).tool('first');
  const names = ['first'];
  server.capabilities.tools = {};
  server.on('tools/list', ({ era }) => {
    const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
    return era === MODERN ? { tools, ttlMs, cacheScope: 'public', resultType: 'complete' } : { tools };
  });
  const reads = () => server.received.filter(({ method }) => method === 'tools/list').length;
  return { server, names, reads };
}

async function gatewayTo(backend: ReturnType<typeof silentServer>) {
  const clock = fakeClock();
  const kit = await testGateway({ backends: { far: backend.server }, now: clock.now });
  return { clock, kit, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

describe('a backend that does not announce changes of its lists', () => {
  proves('choice.list-age.ttl', 'is read again after its ttlMs, when a client lists, and not before', async () => {
    const far = silentServer(60_000);
    await using at = await gatewayTo(far);
    const client = await at.kit.client();
    far.names.push('second');
    at.clock.advance(59_999);
    expect(await client.toolNames()).toEqual(['first']);
    expect(far.reads()).toBe(1);
    at.clock.advance(1);
    await client.toolNames(); // the list that was known, and the backend is read
    await until(async () => (await client.toolNames()).length === 2);
    expect(far.reads()).toBe(2);
  });

  proves('choice.list-age.bounded', 'is read at most once within limits.listTtlMs, whatever it says', async () => {
    const far = silentServer(0);
    await using at = await gatewayTo(far);
    const client = await at.kit.client();
    at.clock.advance(4_999);
    for (let times = 0; times < 5; times++) await client.toolNames();
    expect(far.reads()).toBe(1);
    at.clock.advance(1);
    for (let times = 0; times < 5; times++) await client.toolNames();
    await until(() => far.reads() === 2);
    for (let times = 0; times < 5; times++) await client.toolNames();
    expect(far.reads()).toBe(2);
  });

  proves('choice.list-age.ttl', 'of 2025-11-25 is read again after a minute, and sessions are notified', async () => {
    const far = silentServer(0, ['2025-11-25']);
    await using at = await gatewayTo(far);
    const session = await legacySession(at.kit.gateway);
    const stream = await session.stream();
    await session.request('tools/list');
    far.names.push('second');
    at.clock.advance(60_000);
    await session.request('tools/list');
    expect((await stream.next())?.message.method).toBe('notifications/tools/list_changed');
  });

  proves('choice.list-age.calls', 'is read before a call of a new tool is refused', async () => {
    const far = silentServer(0);
    far.server.tool('second', 'here');
    far.server.capabilities.tools = {};
    await using at = await gatewayTo(far);
    const client = await at.kit.client();
    far.names.push('second');
    at.clock.advance(5_000);
    expect((await client.callTool('second')).content).toEqual([{ type: 'text', text: 'here' }]);
  });

  proves('choice.list-age.bounded', 'is not read again when it announces changes', async () => {
    const server = fakeServer().tool('first');
    const clock = fakeClock();
    await using kit = await testGateway({ backends: { far: server }, now: clock.now });
    const client = await kit.client();
    await client.toolNames();
    const before = server.received.length;
    clock.advance(10 * 86_400_000);
    await client.toolNames();
    await client.callTool('first');
    expect(server.received.slice(before).map(({ method }) => method)).toEqual(['tools/call']);
  });
});

describe('the lists of the gateway', () => {
  proves(
    'choice.list-age.own',
    'have limits.listTtlMs, or less for a backend that announces nothing, and are private',
    async () => {
      const hints = async (backend: Parameters<typeof testGateway>[0]) => {
        await using kit = await testGateway(backend);
        const { result } = await (await kit.client()).request('tools/list');
        return [result?.ttlMs, result?.cacheScope];
      };
      expect(await hints({ backends: { far: fakeServer().tool('a') } })).toEqual([5_000, 'private']);
      expect(await hints({ backends: { far: silentServer(2_000).server } })).toEqual([2_000, 'private']);
      expect(await hints({ backends: { far: silentServer(0).server } })).toEqual([0, 'private']);
      const plan = { limits: { listTtlMs: 60_000 } };
      expect(await hints({ backends: { far: silentServer(90_000).server }, plan })).toEqual([60_000, 'private']);
      const gone = { transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' } as const;
      expect(await hints({ backends: { far: fakeServer().tool('a'), gone } })).toEqual([0, 'private']);
    },
  );
});

describe('the age of a list', () => {
  const listing = (ttlMs: number, tools: object): BackendListing => ({
    backend: 'far',
    era: MODERN,
    hello: { info: {}, protocolVersion: MODERN, capabilities: { tools: { ...tools } }, instructions: undefined },
    ...{ tools: [], prompts: [], resources: [], templates: [] },
    read: { tools: { atMs: 0, ttlMs } },
  });
  const limits = { listTtlMs: 5_000 };

  proves('choice.list-age.ttl', 'counts when announcements are promised and not received', () => {
    const announced = listing(60_000, { listChanged: true });
    expect(oldLists(announced, 60_000, limits)).toEqual([]);
    expect(oldLists(announced, 60_000, limits, () => false)).toEqual(['tools']);
    expect(clientTtlMs([announced], 'tools', limits)).toBe(5_000);
  });

  proves('choice.list-age.bounded', 'is a day at most', () => {
    expect(oldLists(listing(999_999_999_999_999, {}), 86_400_000, limits)).toEqual(['tools']);
  });
});
