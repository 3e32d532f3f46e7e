import {
  type Core,
  definePlugin,
  type Era,
  encode,
  type JsonObject,
  type Plugin,
  resultFromValue,
} from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modernListen } from '../../../support/gateway-streams.ts';
import { proves } from '../../../support/proves.ts';
import { cedar, claimsFromHeader, claimsHeader } from './support.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const ARGUMENT = { name: 'a', value: '' };
const ADA = { sub: 'ada', groups: ['dev'] };
const EVE = { sub: 'eve', groups: ['sales'] };

const far = () => {
  const server = fakeServer()
    .tool('deploy')
    .tool('search')
    .prompt('plan', 'x')
    .prompt('pitch', 'x')
    .resource('memo://code', 'x')
    .resource('memo://offer', 'x')
    .template('memo://code/{id}')
    .template('memo://offer/{id}')
    .on('resources/read', ({ params }) => ({ contents: [{ uri: String(params.uri), text: 'x' }] }));
  server.capabilities.completions = {};
  return server.on('completion/complete', () => ({ completion: { values: [] } }));
};

const gateway = (policies: readonly string[], more: readonly Plugin[] = [], server = far()): Promise<TestGateway> =>
  testGateway({
    plugins: [claimsFromHeader, cedar, ...more],
    backends: { far: server },
    plan: {
      name: 'gw',
      plugins: [
        { use: claimsFromHeader.address },
        { use: cedar.address, with: { policies } },
        ...more.map(({ address }) => ({ use: address })),
      ],
    },
  });

const LISTS = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
} as const;

const POLICIES = [
  'permit(principal in THVGroup::"dev", action == Action::"call_tool", resource == Tool::"deploy") when { context has arg_env && context.arg_env == "staging" };',
  'permit(principal, action == Action::"call_tool", resource == Tool::"search");',
  'permit(principal in THVGroup::"dev", action == Action::"get_prompt", resource == Prompt::"plan");',
  'permit(principal in THVGroup::"sales", action == Action::"get_prompt", resource == Prompt::"pitch");',
  'permit(principal in THVGroup::"dev", action == Action::"read_resource", resource) when { resource.uri like "memo://code*" };',
  'permit(principal in THVGroup::"sales", action == Action::"read_resource", resource) when { resource.uri like "memo://offer*" };',
];

describe('a gateway with policies', () => {
  proves(
    'choice.order.list-and-call-agree',
    'lists and accepts only what each caller may use, in both eras',
    async () => {
      await using kit = await gateway(POLICIES);
      for (const era of ERAS) {
        for (const claims of [ADA, EVE]) {
          const mine = claims === ADA ? 'code' : 'offer';
          const client = await kit.client({ era, headers: claimsHeader(claims) });
          const listed = async (method: keyof typeof LISTS): Promise<unknown[]> => {
            const [list, name] = LISTS[method];
            const { result } = await client.request(method);
            return (result?.[list] as JsonObject[]).map((item) => item[name]);
          };
          expect(await listed('tools/list')).toEqual(claims === ADA ? ['deploy', 'search'] : ['search']);
          expect(await listed('prompts/list')).toEqual(claims === ADA ? ['plan'] : ['pitch']);
          expect(await listed('resources/list')).toEqual([`memo://${mine}`]);
          expect(await listed('resources/templates/list')).toEqual([`memo://${mine}/{id}`]);
          const status = async (method: string, params: JsonObject) => (await client.request(method, params)).status;
          const call = (name: string, env?: string) => status('tools/call', { name, arguments: env ? { env } : {} });
          expect(await call('search')).toBe(200);
          expect(await call('deploy', 'staging')).toBe(claims === ADA ? 200 : 403);
          expect(await call('deploy', 'prod')).toBe(403);
          expect(await call('deploy')).toBe(403);
          for (const own of ['code', 'offer']) {
            const wanted = own === mine ? 200 : 403;
            const uri = `memo://${own}`;
            const name = own === 'code' ? 'plan' : 'pitch';
            const ref = (of: JsonObject) => status('completion/complete', { ref: of, argument: ARGUMENT });
            expect([own, await status('prompts/get', { name })]).toEqual([own, wanted]);
            expect([own, await status('resources/read', { uri })]).toEqual([own, wanted]);
            expect([own, await status('resources/read', { uri: `${uri}/7` })]).toEqual([own, wanted]);
            expect([own, await ref({ type: 'ref/prompt', name })]).toEqual([own, wanted]);
            expect([own, await ref({ type: 'ref/resource', uri: `${uri}/{id}` })]).toEqual([own, wanted]);
            if (era === '2025-11-25')
              expect([own, await status('resources/subscribe', { uri })]).toEqual([own, wanted]);
          }
        }
      }
      const headers = claimsHeader(EVE);
      const listen = await modernListen(
        kit.gateway,
        { resourceSubscriptions: ['memo://code', 'memo://offer'] },
        headers,
      );
      expect((await listen.next())?.message.params?.notifications).toEqual({ resourceSubscriptions: ['memo://offer'] });
      await listen.close();
    },
  );

  proves(
    ['choice.order.refusal-everywhere', 'choice.authorization.refusal-words'],
    'that permit nothing refuse every request with the error of its kind',
    async () => {
      const server = far();
      await using kit = await gateway(['permit(principal == Client::"other", action, resource);'], [], server);
      const asked: readonly (readonly [string, JsonObject, string, Era?])[] = [
        ['tools/call', { name: 'deploy', arguments: {} }, 'call denied by authorization policy'],
        ['tools/call', { name: 'absent', arguments: {} }, 'call denied by authorization policy'],
        ['prompts/get', { name: 'plan' }, 'prompt denied by authorization policy'],
        ['resources/read', { uri: 'memo://code' }, 'read denied by authorization policy'],
        ['resources/read', { uri: 'memo://code/7' }, 'read denied by authorization policy'],
        ['resources/subscribe', { uri: 'memo://code' }, 'read denied by authorization policy', '2025-11-25'],
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: 'plan' }, argument: ARGUMENT },
          'prompt denied by authorization policy',
        ],
        [
          'completion/complete',
          { ref: { type: 'ref/resource', uri: 'memo://code' }, argument: ARGUMENT },
          'read denied by authorization policy',
        ],
      ];
      for (const era of ERAS) {
        const client = await kit.client({ era, headers: claimsHeader(ADA) });
        for (const [method, params, message, only] of asked) {
          if (only !== undefined && only !== era) continue;
          const { status, error } = await client.request(method, params);
          expect([era, method, status, error]).toEqual([era, method, 403, { code: 403, message }]);
        }
        for (const [method, [list]] of Object.entries(LISTS)) {
          expect((await client.request(method)).result?.[list]).toEqual([]);
        }
      }
      const refused = await kit.gateway.perform({ name: 'deploy' });
      expect(refused).toMatchObject({ refusal: { status: 403 } });
      const methods = new Set(asked.map(([method]) => method));
      expect(server.received.filter(({ method }) => methods.has(method))).toEqual([]);
    },
  );

  proves(
    'choice.authorization.inner-calls',
    'apply to inner calls under their own name, and not to dispatchers',
    async () => {
      const replies: JsonObject[] = [];
      const ways = inner('ways', async (core, parent, key) => {
        for (const name of ['deploy', 'search', 'far.deploy']) {
          const reply = await core.perform({ parent, name, arguments: { env: 'staging' } });
          replies.push({ key, name, isRefused: 'refusal' in reply });
        }
      });
      await using kit = await gateway(POLICIES, [ways]);
      const ask = async (claims: JsonObject) => {
        replies.length = 0;
        const client = await kit.client({ headers: claimsHeader(claims) });
        const tools = await client.toolNames();
        const { status } = await client.request('tools/call', { name: 'composite', arguments: {} });
        await client.callTool('script');
        return {
          tools,
          status,
          replies: replies.map(({ key, name, isRefused }) => `${key} ${name} ${isRefused ? 'no' : 'yes'}`),
        };
      };
      expect(await ask(ADA)).toEqual({
        tools: ['deploy', 'script', 'search'],
        status: 403,
        replies: ['script deploy yes', 'script search yes', 'script far.deploy yes'],
      });
      expect(await ask(EVE)).toEqual({
        tools: ['script', 'search'],
        status: 403,
        replies: ['script deploy no', 'script search yes', 'script far.deploy no'],
      });
    },
  );

  it('are evaluated before rate limits', async () => {
    const spent: string[] = [];
    const limit = plugin('limit', (core) => core.hooks.limit.tap('limit', ({ name }) => void spent.push(name)));
    await using kit = await gateway(POLICIES, [limit]);
    const client = await kit.client({ headers: claimsHeader(EVE) });
    await client.request('tools/call', { name: 'deploy', arguments: { env: 'staging' } });
    await client.callTool('search');
    expect(spent).toEqual(['search']);
  });

  it('see the rewritten call, not the original one', async () => {
    const rewrite = plugin('rewrite', (core) =>
      core.hooks.rewriteCall.tap('rewrite', (call) => core.log.debug('seen') ?? call),
    );
    await using kit = await gateway(
      ['permit(principal, action, resource) when { context has arg_env && context.arg_env == "staging" };'],
      [rewrite],
    );
    const client = await kit.client({ headers: claimsHeader(ADA) });
    const twice = '{"env":"prod","env":"staging"}';
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'deploy', arguments: {} } };
    expect((await client.request('tools/call', { name: 'deploy', arguments: { env: 'staging' } })).status).toBe(200);
    const legacy = await kit.gateway.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...claimsHeader(ADA) },
        body: JSON.stringify(body).replace('{}', twice),
      }),
    );
    expect([legacy.status, ((await legacy.json()) as JsonObject).error]).toMatchObject([400, { code: -32602 }]);
  });

  it('read what plugins found out about an entry, which cannot replace what the gateway knows', async () => {
    const asked: string[][] = [];
    const finding = plugin('testing/finding', (core) =>
      core.hooks.shapeCatalog.tap('testing/finding', (draft) => ({
        ...draft,
        tools: draft.tools.map((tool) => ({
          ...tool,
          facts(names) {
            asked.push([...names]);
            return { scan: tool.key === 'deploy' ? ['hidden'] : [], name: 'search', backend: 'near' };
          },
        })),
      })),
    );
    const only = 'permit(principal, action, resource) when';
    const policies = [`${only} { resource has scan && resource.scan == [] && resource.backend == "far" };`];
    await using kit = await gateway(policies, [finding]);
    const client = await kit.client({ headers: claimsHeader(ADA) });
    expect(await client.toolNames()).toEqual(['search']);
    const status = async (name: string) => (await client.request('tools/call', { name, arguments: {} })).status;
    expect([await status('search'), await status('deploy')]).toEqual([200, 403]);
    expect(asked[0]?.sort()).toEqual(['backend', 'scan']);
  });

  it('must be valid at the start', async () => {
    await expect(gateway(['permit(principal, action, resource) when { x };'])).rejects.toThrow(
      /plugins\[\d\] authorization\/cedar\.policies\[0\]: line 1, column \d+/,
    );
  });
});

function plugin(address: string, apply: (core: Core) => void): Plugin {
  return definePlugin({ address, config: z.strictObject({}), apply });
}

/** Two virtual tools that call others: one normal tool and one dispatcher. */
function inner(
  address: string,
  run: (core: Core, parent: Parameters<Core['perform']>[0]['parent'], key: string) => Promise<void>,
): Plugin {
  return plugin(address, (core) =>
    core.hooks.shapeCatalog.tap(address, (draft) => ({
      ...draft,
      tools: [
        ...draft.tools,
        ...(['composite', 'script'] as const).map((key) => ({
          kind: 'tool' as const,
          key,
          backend: address,
          original: key,
          definition: encode({ name: key, inputSchema: { type: 'object' } }),
          shapedBy: [address],
          ...(key === 'script' ? { isDispatcher: true as const } : {}),
          run: async (call: Parameters<Core['perform']>[0]['parent']) => {
            await run(core, call, key);
            return resultFromValue({ content: [] });
          },
        })),
      ],
    })),
  );
}
