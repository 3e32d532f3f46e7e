import { createGateway, definePlugin, type ToolEntry, toolFailure } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import rateLimit from '../../../plugins/rate-limit/index.ts';
import { limited, passed, per } from '../../support/limited-gateway.ts';
import { proves } from '../../support/proves.ts';

describe('rate-limit', () => {
  proves('vmcp.rate-limiting.shared', 'has one bucket for all users', async () => {
    await using it = await limited({ shared: per(5) });
    expect(await passed(it.kit, 'ada', 'read', 3)).toBe(3);
    expect(await passed(it.kit, 'bob', 'write', 3)).toBe(2);
    expect(it.server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(5);
  });

  proves('vmcp.rate-limiting.per-user', 'has one bucket for each user', async () => {
    await using it = await limited({ perUser: per(2) });
    expect(await passed(it.kit, 'ada', 'read', 4)).toBe(2);
    expect(await passed(it.kit, 'bob', 'read', 4)).toBe(2);
  });

  proves(
    ['vmcp.rate-limiting.max-tokens', 'vmcp.rate-limiting.refill-period', 'vmcp.rate-limiting.rate'],
    'allows a burst of maxTokens, then maxTokens per refillPeriod',
    async () => {
      await using it = await limited({ shared: per(4, '1m20s') });
      expect(await passed(it.kit, '', 'read', 6)).toBe(4);
      it.clock.nowMs += 19_999;
      expect(await passed(it.kit, '', 'read', 1)).toBe(0);
      it.clock.nowMs += 1;
      expect(await passed(it.kit, '', 'read', 2)).toBe(1);
      it.clock.nowMs += 40_000;
      expect(await passed(it.kit, '', 'read', 3)).toBe(2);
      it.clock.nowMs += 8_000_000;
      expect(await passed(it.kit, '', 'read', 6)).toBe(4);
    },
  );

  proves(
    ['vmcp.rate-limiting.tools', 'vmcp.rate-limiting.server-and-tool'],
    'applies the limits of the server and of the tool, and takes no tokens when one refuses',
    async () => {
      const tools = [{ name: 'write', shared: per(3), perUser: per(1) }];
      await using it = await limited({ shared: per(6), perUser: per(4), tools });
      expect(await passed(it.kit, 'ada', 'write', 10)).toBe(1);
      // nine refused calls take no tokens: ada has three of four left, all users five of six
      expect(await passed(it.kit, 'ada', 'read', 10)).toBe(3);
      expect(await passed(it.kit, 'bob', 'write', 10)).toBe(1);
      expect(await passed(it.kit, 'cyd', 'write', 10)).toBe(1);
      expect(await passed(it.kit, 'cyd', 'read', 10)).toBe(0);
    },
  );

  it('counts dispatchers and the tools they call', async () => {
    const dispatcher = definePlugin({
      address: 'test/way-in',
      config: z.strictObject({}),
      apply: (core) =>
        core.hooks.shapeCatalog.tap('test/way-in', (draft) => {
          const tool: ToolEntry = {
            kind: 'tool',
            key: 'lead',
            original: 'lead',
            backend: 'test/way-in',
            definition: Buffer.from('{"name":"lead","inputSchema":{"type":"object"}}'),
            shapedBy: [],
            isDispatcher: true,
            async run(call) {
              const reply = await core.perform({ parent: call, name: 'read', arguments: {} });
              return 'result' in reply ? reply.result : toolFailure('refused inside');
            },
          };
          return { ...draft, tools: [...draft.tools, tool] };
        }),
    });
    const reads = (it: Awaited<ReturnType<typeof limited>>) =>
      it.server.received.filter(({ method }) => method === 'tools/call');
    await using byServer = await limited({ shared: per(5) }, { plugins: [dispatcher] });
    await passed(byServer.kit, 'ada', 'lead', 5);
    expect(reads(byServer)).toHaveLength(2);
    await using byName = await limited({ tools: [{ name: 'lead', shared: per(2) }] }, { plugins: [dispatcher] });
    await passed(byName.kit, 'ada', 'lead', 5);
    expect(reads(byName)).toHaveLength(2);
  });

  proves('vmcp.rate-limiting.tools', 'limits a single tool without limiting the others', async () => {
    await using it = await limited({ tools: [{ name: 'write', shared: per(1) }] });
    expect(await passed(it.kit, '', 'write', 3)).toBe(1);
    expect(await passed(it.kit, '', 'read', 3)).toBe(3);
  });

  proves('choice.error.rate-limited-modern', 'answers a modern client 429 with the seconds to wait', async () => {
    await using it = await limited({ shared: per(2, '5s') });
    const client = await it.kit.client();
    await passed(it.kit, '', 'read', 2);
    const { status, error, result } = await client.request('tools/call', { name: 'read', arguments: {} });
    expect([status, result]).toEqual([200, undefined]);
    expect(error).toEqual({ code: 429, message: 'rate limit exceeded', data: { retryAfterSeconds: 3 } });
  });

  proves('choice.error.rate-limited-legacy', 'answers a legacy client a result with an error text', async () => {
    await using it = await limited({ shared: per(1, '90s') });
    const client = await it.kit.client({ era: '2025-11-25' });
    await client.callTool('read');
    it.clock.nowMs += 500;
    const { status, error, result } = await client.request('tools/call', { name: 'read', arguments: {} });
    expect([status, error]).toEqual([200, undefined]);
    expect(result).toEqual({
      content: [{ type: 'text', text: 'Rate limit exceeded' }],
      isError: true,
      structuredContent: { code: 429, message: 'Rate limit exceeded', data: { retryAfterSeconds: 90 } },
    });
  });

  proves('choice.rate-limit.other-methods', 'counts only tools/call, or the configured methods', async () => {
    const surface = [
      ['tools/list', {}],
      ['prompts/get', { name: 'ask' }],
      ['resources/read', { uri: 'memo://1' }],
    ] as const;
    await using plain = await limited({ shared: per(1) });
    const client = await plain.kit.client();
    for (const [method, params] of [...surface, ...surface]) {
      expect((await client.request(method, params)).error).toBeUndefined();
    }
    await using wide = await limited({ shared: per(2), methods: ['prompts/get', 'resources/read'] });
    const limitedClient = await wide.kit.client();
    const codes: unknown[] = [];
    for (const [method, params] of [...surface, ...surface]) {
      codes.push((await limitedClient.request(method, params)).error?.code);
    }
    expect(codes).toEqual([undefined, undefined, undefined, undefined, 429, 429]);
    expect(await passed(wide.kit, '', 'read', 3)).toBe(3);
  });

  it('takes no tokens for a call that authorization denies', async () => {
    const deny = definePlugin({
      address: 'test/deny',
      config: z.strictObject({}),
      apply: ({ hooks }) =>
        hooks.authorize.tap('test/deny', ({ name }) =>
          name === 'write' ? { refused: true, status: 403, reason: 'no' } : undefined,
        ),
    });
    await using it = await limited({ shared: per(2) }, { plugins: [deny] });
    expect(await passed(it.kit, '', 'write', 5)).toBe(0);
    expect(await passed(it.kit, '', 'read', 5)).toBe(2);
  });

  proves('choice.rate-limit.anonymous-together', 'has one bucket for all callers without an identity', async () => {
    await using it = await limited({ perUser: per(2) });
    expect(await passed(it.kit, '', 'read', 2)).toBe(2);
    expect(await passed(it.kit, '', 'read', 2)).toBe(0);
    expect(await passed(it.kit, 'ada', 'read', 3)).toBe(2);
  });

  proves('choice.rate-limit.seen-name', 'counts inner calls under the advertised name', async () => {
    const scripting = definePlugin({
      address: 'test/scripting',
      config: z.strictObject({}),
      apply(core) {
        core.hooks.wrapDispatch.tap('test/scripting', (dispatch) => async (call) => {
          if (call.name !== 'read') return dispatch(call);
          const reply = await core.perform({ parent: call, name: 'far.write', arguments: {} });
          if ('result' in reply) return reply.result;
          throw new Error('the inner call was refused');
        });
      },
    });
    await using it = await limited({ tools: [{ name: 'write', shared: per(2) }] }, { plugins: [scripting] });
    expect(await passed(it.kit, '', 'write', 1)).toBe(1);
    expect(await passed(it.kit, '', 'read', 3)).toBe(1);
    expect(await passed(it.kit, '', 'write', 1)).toBe(0);
  });

  proves(
    'vmcp.rate-limiting.per-user-needs-authentication',
    'does not start with limits per user when only anonymous callers are accepted',
    async () => {
      for (const config of [{ perUser: per(1) }, { tools: [{ name: 'read', perUser: per(1) }] }]) {
        const start = createGateway(
          {
            plugins: [
              { use: 'incoming-auth/anonymous' },
              { use: 'outgoing-auth/unauthenticated' },
              { use: 'stores/memory' },
              { use: 'rate-limit', with: config },
            ],
          },
          { catalogue },
        );
        await expect(start).rejects.toMatchObject({
          code: 'PLAN_INVALID',
          message: 'rate-limit: perUser needs authentication, but only incoming-auth/anonymous is configured',
        });
      }
    },
  );

  it('does not start without the configured store', async () => {
    await expect(limited({ shared: per(1), store: 'redis' })).rejects.toMatchObject({ code: 'SLOT_UNKNOWN' });
  });

  proves(
    ['vmcp.rate-limiting.tools-name', 'vmcp.rate-limiting.max-tokens', 'vmcp.rate-limiting.refill-period'],
    'refuses unknown keys and invalid values',
    () => {
      const wrong: [unknown, RegExp][] = [
        [{ tools: [{ shared: per(1) }] }, /name/],
        [{ tools: [{ name: '' }] }, /a name that is not empty/],
        [{ shared: { refillPeriod: '1m' } }, /maxTokens/],
        [{ shared: { maxTokens: 1 } }, /refillPeriod/],
        [{ shared: per(0) }, />=1/],
        [{ shared: per(2_147_483_648) }, /2147483647/],
        [{ shared: per(1.5) }, /int/],
        [{ shared: per(1, '1 minute') }, /Go duration/],
        [{ shared: per(1, '0s') }, /above zero/],
        [{ shared: { ...per(1), burst: 1 } }, /burst/],
        [{ methods: ['tools/list'] }, /tools\/call/],
        [{ methods: [] }, />=1/],
      ];
      for (const [config, why] of wrong) {
        const read = rateLimit.config.safeParse(config);
        expect(read.success, JSON.stringify(config)).toBe(false);
        expect(read.error?.message).toMatch(why);
      }
      expect(rateLimit.config.parse({ shared: per(2_147_483_647, '1.5h') }).shared?.refillPeriod).toBe(5_400_000);
    },
  );
});
