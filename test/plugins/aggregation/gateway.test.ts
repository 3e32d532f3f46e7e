import { type Core, definePlugin } from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { InnerCall } from '../../../core/extension/plugin.ts';
import aggregation from '../../../plugins/aggregation/index.ts';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;

describe.each(ERAS)('an aggregated endpoint for clients of %s', (era) => {
  proves(
    ['choice.aggregation.override-original-called', 'vmcp.aggregation.tools-overrides-name-everywhere'],
    'lists and accepts the overridden name, and calls the backend with the original one',
    async () => {
      const files = fakeServer().tool('read', ({ params }) => ({
        content: [{ type: 'text', text: `${params.name}` }],
      }));
      await using world = await gatewayOf({ files }, [{ workload: 'files', overrides: { read: { name: 'open' } } }]);
      const client = await world.client({ era });
      expect(await client.toolNames()).toEqual(['files_open']);
      expect(await client.callTool('files_open')).toMatchObject({ content: [{ type: 'text', text: 'read' }] });
      for (const name of ['open', 'read', 'files_read', 'files.read', 'files.open']) {
        const { error } = await client.request('tools/call', { name, arguments: {} });
        expect([name, error?.code]).toEqual([name, -32602]);
      }
    },
  );

  proves(
    ['choice.aggregation.hidden-not-callable', 'choice.aggregation.hidden-routable-inside'],
    'answers a call of a hidden tool like an unknown one, but inner calls reach it',
    async () => {
      const files = fakeServer().tool('read', 'read it').tool('remove', 'removed it');
      const closed = fakeServer().tool('read', 'closed read');
      const inner = innerCaller();
      const rules = [
        { workload: 'files', filter: ['read'] },
        { workload: 'closed', excludeAll: true },
      ];
      await using world = await gatewayOf({ files, closed }, rules, inner.plugin);
      const client = await world.client({ era });
      expect(await client.toolNames()).toEqual(['files_read']);
      expect((await client.request('tools/call', { name: 'closed_read', arguments: {} })).error?.message).toContain(
        'unknown tool',
      );
      const hidden = await client.request('tools/call', { name: 'files_remove', arguments: {} });
      const unknown = await client.request('tools/call', { name: 'files_nothing', arguments: {} });
      expect(hidden.error?.code).toBe(unknown.error?.code);
      expect(hidden.status).toBe(unknown.status);
      expect(hidden.error?.message.replace('remove', 'nothing')).toBe(unknown.error?.message);
      inner.callNext('files.remove');
      expect(await client.callTool('files_read')).toMatchObject({ content: [{ text: 'removed it' }] });
    },
  );

  it('answers an error instead of an empty list while manual has a conflict', async () => {
    const backends = { a: fakeServer().tool('t'), b: fakeServer().tool('t') };
    await using world = await gatewayOf(backends, [{ workload: 'a' }], undefined, 'manual');
    const client = await world.client({ era });
    expect((await client.request('tools/list')).error?.code).toBe(-32603);
    expect((await client.request('tools/call', { name: 't', arguments: {} })).error?.code).toBe(-32603);
    expect(world.logged.join('\n')).toContain('t: [a, b]');
    world.setBackends({ a: backends.a });
    await expect.poll(() => client.request('tools/list').then(({ result }) => result?.tools)).toHaveLength(1);
  });
});

type Tools = z.input<typeof aggregation.config>['tools'];

function gatewayOf(
  backends: Record<string, ReturnType<typeof fakeServer>>,
  tools: Tools,
  also?: ReturnType<typeof innerCaller>['plugin'],
  conflictResolution: 'prefix' | 'manual' = 'prefix',
): Promise<TestGateway> {
  const plugins = [aggregation, ...(also === undefined ? [] : [also])];
  const used = plugins.map(({ address }) => ({
    use: address,
    ...(address === aggregation.address ? { with: { conflictResolution, tools } } : {}),
  }));
  return testGateway({ backends, plugins, plan: { plugins: used } });
}

/** A plugin that answers the next call with the result of an inner call. */
function innerCaller() {
  let next: string | undefined;
  const redirect = async (core: Core, parent: InnerCall['parent']) => {
    const name = next;
    next = undefined;
    if (name === undefined) return undefined;
    const reply = await core.perform({ parent, name, arguments: {} });
    if (!('result' in reply)) throw new Error(`inner call of ${name}: ${JSON.stringify(reply)}`);
    return reply.result;
  };
  const plugin = definePlugin({
    address: 'test/inner',
    config: z.strictObject({}),
    apply(core) {
      core.hooks.wrapDispatch.tap(
        'test/inner',
        (dispatch) => async (call) => (await redirect(core, call)) ?? dispatch(call),
      );
    },
  });
  return {
    plugin,
    callNext: (name: string) => {
      next = name;
    },
  };
}
