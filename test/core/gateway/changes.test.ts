import { type Backend, definePlugin } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mergeSources } from '../../../core/backend/merge-sources.ts';
import { instructionsOf, legacySession, modernListen } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const limits = { coalesceMs: 30, listGraceMs: 0 };

/** Hides one tool from clients. */
const hiding = definePlugin({
  address: 'hiding',
  config: z.strictObject({}),
  apply: ({ hooks }) =>
    hooks.shapeCatalog.tap('hiding', (draft) => ({
      ...draft,
      tools: draft.tools.map((tool) => (tool.key === 'hidden' ? { ...tool, hiddenBy: 'filter' as const } : tool)),
    })),
});

/** Counts the list changes that a stream brings, until it ends. */
function counting(stream: { next(): Promise<{ message: { method?: string } } | undefined> }) {
  const heard: string[] = [];
  const done = (async () => {
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      if (event.message.method?.endsWith('list_changed')) heard.push(event.message.method);
    }
  })().catch(() => {});
  return { heard, done };
}

describe('a change of the backends', () => {
  proves(
    ['choice.backend.one-notification', 'ask.aggregation.one-notification', 'choice.backend.unchanged-suppressed'],
    'reaches each client once when one is added, gone, changed or back, and not when nothing visible changed',
    async () => {
      const stays = fakeServer().tool('stays');
      const moves = fakeServer().tool('moves');
      const also = fakeServer().tool('also');
      await using kit = await testGateway({ plugins: [hiding], backends: { stays }, plan: { limits } });
      const streams = [
        counting(await (await legacySession(kit.gateway)).stream()),
        counting(await (await legacySession(kit.gateway)).stream()),
        counting(await modernListen(kit.gateway, { toolsListChanged: true, promptsListChanged: true })),
      ];
      const client = await kit.client();
      const tools = 'notifications/tools/list_changed';
      /** Makes a change, waits for the new list, and expects one notification for every client. */
      const once = async (change: () => void, list: readonly string[]): Promise<void> => {
        const before = streams.map(({ heard }) => heard.length);
        change();
        await until(async () => (await client.toolNames()).join() === list.join());
        await until(() => streams.every(({ heard }, at) => heard.length > (before[at] ?? 0)));
        await new Promise((resolve) => setTimeout(resolve, 3 * limits.coalesceMs)); // a second one would come now
        for (const [at, { heard }] of streams.entries()) expect(heard.slice(before[at])).toEqual([tools]);
      };
      await once(() => kit.setBackends({ stays, moves }), ['moves', 'stays']);
      await once(() => kit.setBackends({ stays }), ['stays']);
      await once(() => kit.setBackends({ stays, moves, also }), ['also', 'moves', 'stays']);
      await once(() => kit.setBackends({ stays, moves }), ['moves', 'stays']);
      await once(() => {
        moves.tool('more');
        moves.notify('notifications/tools/list_changed');
      }, ['more', 'moves', 'stays']);

      const before = streams.map(({ heard }) => heard.length);
      const asked = () => moves.received.filter(({ method }) => method === 'tools/list').length;
      const askedBefore = asked();
      moves.notify('notifications/tools/list_changed'); // it says so, and its list is the same
      await until(() => asked() > askedBefore);
      moves.tool('hidden'); // its list changes, but clients cannot see the difference
      moves.notify('notifications/tools/list_changed');
      await until(() =>
        kit.gateway
          .catalog()
          .allTools()
          .some(({ key }) => key === 'hidden'),
      );
      kit.setBackends({ stays, moves });
      await new Promise((resolve) => setTimeout(resolve, 4 * limits.coalesceMs));
      expect(streams.map(({ heard }) => heard.length)).toEqual(before);
    },
  );

  proves('choice.backend.definition-hash', 'takes effect whatever field it is in', async () => {
    const base: Backend = { name: 'b', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' };
    const changes: readonly Partial<Backend>[] = [
      { url: 'http://127.0.0.1:2/mcp' },
      { transport: 'sse' },
      { type: 'entry' },
      { caBundlePath: '/ca.pem' },
      { metadata: { team: 'a' } },
      { era: 'legacy' },
      { sessions: 'shared' },
      { command: { file: 'node', args: ['a'], env: { A: '1' } } },
    ];
    const seen: Backend[][] = [];
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const directory = mergeSources((backends) => void seen.push([...backends]), quiet);
    directory.update('s', [base]);
    for (const change of changes) {
      directory.update('s', [{ ...base, ...change }]);
      expect(seen.at(-1)).toEqual([{ ...base, ...change }]);
      const count = seen.length;
      directory.update('s', [structuredClone({ ...change, ...base, ...change })]); // the same, in another order
      expect(seen).toHaveLength(count);
      directory.update('s', [base]);
    }
    directory.update('s', [{ ...base, command: { file: 'node', args: ['a'], env: { A: '1' } } }]);
    const count = seen.length;
    directory.update('s', [{ ...base, command: { file: 'node', args: ['a'], env: { A: '2' } } }]);
    expect(seen).toHaveLength(count + 1);

    const [one, two] = [fakeServer().tool('old'), fakeServer().tool('new')];
    const plugins = [{ use: 'aggregation' }];
    await using kit = await testGateway({ catalogue, backends: { far: one }, plan: { limits, plugins } });
    const client = await kit.client();
    expect(await client.toolNames()).toEqual(['far_old']);
    kit.setBackends({ far: { transport: 'stdio', command: { file: 'fake-server:other', args: [] } }, other: two });
    await until(async () => (await client.toolNames()).join() === 'far_new,other_new');
    expect((await client.request('tools/call', { name: 'far_old', arguments: {} })).error?.code).toBe(-32602);
  });
});

describe('backends that are known from the start', () => {
  proves(
    'choice.aggregation.static-check-at-start',
    'have their conflicts found then, before the first list',
    async () => {
      const aggregation = { use: 'aggregation', with: { conflictResolution: 'manual', tools: [{ workload: 'a' }] } };
      const backends = { a: fakeServer().tool('same'), b: fakeServer().tool('same') };
      await using kit = await testGateway({ catalogue, plan: { plugins: [aggregation] }, backends });
      expect(kit.logged.join('\n')).toMatch(/CATALOG_CONFLICT/);
      expect(kit.logged.join('\n')).toMatch(/same.*a.*b/);
      const reply = await (await kit.client()).request('tools/list');
      expect(reply.error?.code).toBe(-32603);
    },
  );
});

describe('the instructions of backends', () => {
  it('are those that plugins leave, looked at again when a plugin says so', async () => {
    let reshape = (): void => {};
    let shown = 'a';
    const choosing = definePlugin({
      address: 'choosing',
      config: z.strictObject({}),
      apply({ hooks, backends }) {
        reshape = () => backends.reshape();
        hooks.shapeInstructions.tap('choosing', (told) => told.filter(({ text }) => text === shown));
      },
    });
    const [one, two] = [fakeServer().tool('x'), fakeServer()];
    one.instructions = 'a';
    two.instructions = 'b';
    await using kit = await testGateway({ plugins: [choosing], backends: { one, two }, plan: { limits } });
    expect(await instructionsOf(kit.gateway)).toBe('## one\n\na');
    shown = 'b';
    expect(await instructionsOf(kit.gateway)).toBe('## one\n\na');
    reshape();
    expect(await instructionsOf(kit.gateway)).toBe('## two\n\nb');
  });
});
