import { type BackendHealth, definePlugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Backends } from '../../../core/extension/plugin.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

/** A plugin that hands out what it got. */
function holding(requireAll = false) {
  let held: Backends | undefined;
  const plugin = definePlugin({
    address: 'holding',
    config: z.strictObject({}),
    apply(core) {
      held = core.backends;
      if (requireAll) core.hooks.starting.tap('holding', () => core.backends.requireAll());
    },
  });
  const backends = (): Backends => {
    if (held === undefined) throw new Error('not applied yet');
    return held;
  };
  return { plugin, backends };
}

const health = (status: BackendHealth['status']): BackendHealth => ({
  status,
  consecutiveFailures: 0,
  checkedMs: undefined,
  errorCategory: undefined,
  sinceMs: 0,
});

const GONE = { transport: 'stdio', command: { file: 'fake-server:unknown', args: [] } } as const;
const limits = { listGraceMs: 40, coalesceMs: 10 };

async function listed(kit: Awaited<ReturnType<typeof testGateway>>) {
  const client = await kit.client();
  const reply = await client.request('tools/list');
  return reply.error?.message ?? ((reply.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
}

describe('the backends in the hands of a plugin', () => {
  it('are none before the gateway is assembled, and say so when used', async () => {
    const { plugin, backends } = holding();
    const early = definePlugin({
      address: 'early',
      config: z.strictObject({}),
      apply(core) {
        expect(core.backends.states()).toEqual([]);
        expect(() => core.backends.setHealth('a', health('healthy'))).toThrow(/before the gateway was assembled/);
        expect(() => core.backends.requireAll()).toThrow(/before the gateway was assembled/);
      },
    });
    await using kit = await testGateway({ plugins: [early, plugin], backends: { a: fakeServer().tool('t') } });
    expect(backends().states()).toEqual(kit.gateway.backends());
    expect(await backends().probe('a', 1_000, new AbortController().signal)).toBeGreaterThanOrEqual(0);
    expect(backends().strategyOf('a')).toBe('unauthenticated');
  });

  proves(
    'choice.health.set-aside',
    'leave the lists of every client once when one is set aside, and come back once',
    async () => {
      const { plugin, backends } = holding();
      const [a, b] = [fakeServer().tool('a'), fakeServer().tool('b')];
      await using kit = await testGateway({ plugins: [plugin], backends: { a, b }, plan: { limits } });
      const stream = await (await legacySession(kit.gateway)).stream();
      const heard: string[] = [];
      void (async () => {
        for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
          heard.push(String(event.message.method));
        }
      })().catch(() => undefined);
      const judged = async (status: BackendHealth['status'], names: readonly string[]) => {
        const before = heard.length;
        backends().setHealth('a', health(status));
        await until(async () => String(await listed(kit)) === String(names));
        await until(() => heard.length > before);
        await new Promise((resolve) => setTimeout(resolve, 5 * limits.coalesceMs)); // a second one would come now
        expect(heard.slice(before)).toEqual(['notifications/tools/list_changed']);
      };
      await judged('unhealthy', ['b']);
      await judged('degraded', ['a', 'b']);
      expect(kit.gateway.unready()).toEqual([]);
    },
  );

  const both = (a: FakeServer) => ({ a, gone: GONE });

  proves(
    ['choice.partial-failure.fail', 'choice.partial-failure.healthy-calls'],
    'that are all required: a list that lacks one is an error with its name, calls go on',
    async () => {
      const { plugin } = holding(true);
      const a = fakeServer().tool('t', 'here').prompt('p', 'x');
      await using kit = await testGateway({ plugins: [plugin], backends: both(a), plan: { limits } });
      expect(await listed(kit)).toMatch(/incomplete.*gone \(spawn\)/);
      expect(kit.gateway.unready()).toEqual(['gone']);
      const client = await kit.client();
      for (const method of ['prompts/list', 'resources/list', 'resources/templates/list']) {
        expect((await client.request(method)).error?.code, method).toBe(-32603);
      }
      expect((await client.callTool('t')).content).toEqual([{ type: 'text', text: 'here' }]);
      kit.setBackends({ a });
      await until(async () => String(await listed(kit)) === 't');
      expect(kit.gateway.unready()).toEqual([]);
    },
  );

  proves('choice.partial-failure.fail', 'and are away are covered by their last list while it is known', async () => {
    const { plugin, backends } = holding(true);
    const [a, b] = [fakeServer().tool('a'), fakeServer().tool('b')];
    const plan = { limits: { ...limits, listGraceMs: 300 } };
    await using kit = await testGateway({ plugins: [plugin], backends: { a, b }, plan });
    backends().setHealth('a', health('unhealthy'));
    expect(await listed(kit)).toEqual(['a', 'b']);
    expect(kit.gateway.unready()).toEqual(['a']);
    await until(async () => /incomplete.*a \(no answer yet\)/.test(String(await listed(kit))));
    backends().setHealth('a', health('healthy'));
    await until(async () => String(await listed(kit)) === 'a,b');
  });

  proves('choice.partial-failure.best-effort', 'are served as far as they are there otherwise', async () => {
    await using kit = await testGateway({ backends: both(fakeServer().tool('t')), plan: { limits } });
    expect(await listed(kit)).toEqual(['t']);
    expect(kit.gateway.unready()).toEqual([]);
  });
});
