import { createGateway, definePlugin, type Plugin } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';

const nothing = z.strictObject({});

/** A plugin that only notes when it is started and stopped, or fails to start. */
function noting(address: string, notes: string[], fails = false): Plugin {
  return definePlugin({
    address,
    config: nothing,
    apply({ hooks }) {
      hooks.starting.tapPromise(address, async () => {
        if (fails) throw new Error('no disk');
        notes.push(`start ${address}`);
      });
      hooks.stopping.tapPromise(address, async () => void notes.push(`stop ${address}`));
    },
  });
}

describe('the plugins of a plan', () => {
  proves('ask.core.plugin-order', 'run in the order of the plan within each stage', async () => {
    const order: string[] = [];
    const tapsAll = (address: string): Plugin =>
      definePlugin({
        address,
        config: nothing,
        apply({ hooks }) {
          const note = (stage: string) => void order.push(`${stage} ${address}`);
          hooks.rewriteCall.tapPromise(address, async (call) => {
            note('rewriteCall');
            return call;
          });
          hooks.authorize.tap(address, () => note('authorize') as undefined);
          hooks.limit.tapPromise(address, async () => note('limit') as undefined);
          hooks.rewriteResult.tap(address, (result) => {
            note('rewriteResult');
            return result;
          });
          hooks.callSettled.tap(address, () => note('callSettled'));
        },
      });
    // the order of the plan counts, not the order in which plugins are handed over
    const plan = { plugins: [{ use: 'b' }, { use: 'a' }] };
    const backends = { far: fakeServer().tool('t') };
    await using kit = await testGateway({ plugins: [tapsAll('a'), tapsAll('b')], plan, backends });
    await (await kit.client()).callTool('t');
    const stages = ['rewriteCall', 'authorize', 'limit', 'rewriteResult', 'callSettled'];
    expect(order).toEqual(stages.flatMap((stage) => [`${stage} b`, `${stage} a`]));
    expect(kit.gateway.taps().authorize).toEqual(['b', 'a']);
  });

  it('learn the name and version of their gateway', async () => {
    let told: unknown;
    const nosy = definePlugin({
      address: 'nosy',
      config: nothing,
      apply: ({ server }) => {
        told = server;
      },
    });
    await using _kit = await testGateway({
      plugins: [nosy],
      plan: { name: 'paris', version: '7.1', plugins: [{ use: 'nosy' }] },
    });
    expect(told).toEqual({ name: 'paris', version: '7.1' });
  });

  proves('ask.core.no-authenticator', 'do not start when none of them says who callers are', async () => {
    const started: string[] = [];
    const plugins = [noting('x', started)];
    const plan = { plugins: [{ use: 'x' }, { use: 'outgoing-auth/unauthenticated' }] };
    await expect(createGateway(plan, { plugins, catalogue })).rejects.toMatchObject({
      code: 'PLAN_INCOMPLETE',
      message: expect.stringContaining('in a vmcp file: incomingAuth: { type: anonymous }'),
    });
    expect(started).toEqual([]);
    const open = { plugins: [...plan.plugins, { use: 'incoming-auth/anonymous' }] };
    const gateway = await createGateway(open, { plugins, catalogue });
    await gateway.stop();
    expect(started).toEqual(['start x', 'stop x']);
  });

  proves('ask.core.start-failure-stops', 'that had started are stopped last first when a later one fails', async () => {
    const notes: string[] = [];
    const plugins = [noting('store', notes), noting('audit', notes), noting('broken', notes, true), noting('z', notes)];
    const options = { plugins: plugins.filter(({ address }) => address !== 'z'), backends: { far: fakeServer() } };
    await expect(testGateway(options)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'broken failed in starting',
    });
    // what failed may have half of its things open, so it has its turn too
    const inOrder = ['start store', 'start audit', 'stop broken', 'stop audit', 'stop store'];
    expect(notes).toEqual(inOrder);
    notes.length = 0;
    await expect(testGateway({ plugins })).rejects.toThrow();
    expect(notes).toEqual(inOrder);
  });

  it('know the name and version that their gateway has', async () => {
    let server: unknown;
    const asking = definePlugin({
      address: 'asking',
      config: nothing,
      apply: (core) => {
        server = core.server;
      },
    });
    await using _ = await testGateway({ plugins: [asking], plan: { name: 'mine', version: '7' } });
    expect(server).toEqual({ name: 'mine', version: '7' });
  });

  it('learn which tools a list shows the caller of a call', async () => {
    const shown: string[][] = [];
    const asking = definePlugin({
      address: 'asking',
      config: nothing,
      apply(core) {
        core.hooks.advertise.tap('asking', (entries) => entries.filter(({ key }) => key !== 'secret'));
        core.hooks.rewriteCall.tapPromise('asking', async (call) => {
          shown.push((await core.toolsFor(call)).map(({ key }) => key));
          return call;
        });
      },
    });
    const far = fakeServer().tool('secret').tool('open').tool('echo');
    await using kit = await testGateway({ plugins: [asking], backends: { far } });
    await (await kit.client()).callTool('open');
    expect(shown).toEqual([['echo', 'open']]);
  });

  proves('ask.core.typed-config', 'are typed by their schema: a wrong configuration does not compile', () => {
    const config = z.strictObject({ blocked: z.array(z.string()).default([]), max: z.int() });
    const plugin = definePlugin({
      address: 'typed',
      config,
      apply(core, { blocked, max }) {
        const names: readonly string[] = blocked;
        const count: number = max;
        // @ts-expect-error: blocked has text in it
        const numbers: readonly number[] = blocked;
        // @ts-expect-error: a hook is tapped with the address, a name
        expect(() => core.hooks.authorize.tap(max, () => undefined)).toThrow();
        return void [names, count, numbers];
      },
    });
    // @ts-expect-error: the schema has no such member
    definePlugin({ address: 'x', config, apply: (_core, { bloked }) => void bloked });
    // @ts-expect-error: a plugin has a schema
    definePlugin({ address: 'x', apply: () => {} });
    // @ts-expect-error: the configuration of a plan entry stands under "with"
    const plan: Parameters<typeof createGateway>[0] = { plugins: [{ use: 'typed', config: { max: 1 } }] };
    expect(plugin.config.safeParse({ max: 'one' }).success).toBe(false);
    return expect(createGateway(plan, { plugins: [plugin] })).rejects.toThrow(/unknown key "config"/);
  });
});
