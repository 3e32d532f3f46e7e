import {
  type CatalogDraft,
  type Core,
  definePlugin,
  type Plugin,
  resultFromBytes,
  type ToolEntry,
  toolFailure,
} from '@toolmgr/core';
import { fakeServer, type TestGateway, testClient, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const DIRECT = '/mcp/direct';

/** A plugin with one way in at the front; everything from backends is behind it. */
function directPath(more: (core: Core) => void = () => {}, path = DIRECT): Plugin {
  return definePlugin({
    address: 'front',
    config: z.strictObject({}),
    apply(core) {
      core.endpoint.serveDirect(path);
      core.hooks.shapeCatalog.tap('front', (draft): CatalogDraft => {
        const behind = draft.tools.map((tool): ToolEntry => ({ ...tool, servedAt: 'direct' }));
        return { ...draft, tools: [...behind, dispatcher(core)] };
      });
      more(core);
    },
  });
}

/** Calls the tool that its argument `name` says, as a caller would. */
function dispatcher(core: Core): ToolEntry {
  return {
    kind: 'tool',
    key: 'way_in',
    original: 'way_in',
    backend: 'front',
    definition: Buffer.from('{"name":"way_in","inputSchema":{"type":"object"}}'),
    shapedBy: [],
    servedAt: 'front',
    isDispatcher: true,
    async run(call) {
      const name = String(call.arguments.name);
      const reply = await core.perform({ parent: call, name, arguments: {}, isChosen: true });
      if ('result' in reply) return reply.result;
      return toolFailure('error' in reply ? reply.error.message : reply.refusal.reason);
    },
  };
}

const at = (kit: TestGateway, path: string) =>
  testClient((request) => kit.gateway.fetch(request), `http://localhost${path}`, { era: '2025-11-25' });

describe('the two paths of an endpoint', () => {
  it('list their own entries, and call no others', async () => {
    const far = fakeServer().tool('echo').tool('add');
    await using kit = await testGateway({ plugins: [directPath()], backends: { far } });
    const front = await at(kit, '/mcp');
    const direct = await at(kit, DIRECT);
    expect(await front.toolNames()).toEqual(['way_in']);
    expect(await direct.toolNames()).toEqual(['add', 'echo']);
    await expect(front.callTool('echo')).rejects.toMatchObject({ code: -32602 });
    await expect(direct.callTool('way_in')).rejects.toMatchObject({ code: -32602 });
    expect(await direct.callTool('echo')).toHaveProperty('content');
    expect(far.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('share sessions and notifications of changed lists', async () => {
    const far = fakeServer().tool('echo');
    const rebuilt: string[][] = [];
    const listening = directPath((core) =>
      core.hooks.catalogRebuilt.tap('front', ({ reachable }) => void rebuilt.push(reachable.map(({ key }) => key))),
    );
    await using kit = await testGateway({ plugins: [listening], backends: { far } });
    await (await at(kit, '/mcp')).toolNames();
    kit.setBackends({ far, other: fakeServer().tool('later') });
    await expect.poll(() => rebuilt.at(-1)).toEqual(['echo', 'later']);
  });

  it('allow only calls of tools that the direct path lists', async () => {
    const far = fakeServer().tool('echo').tool('hidden');
    const hiding = directPath((core) =>
      core.hooks.shapeCatalog.tap('hiding', (draft) => ({
        ...draft,
        tools: draft.tools.map((tool) => (tool.key === 'hidden' ? { ...tool, hiddenBy: 'filter' as const } : tool)),
      })),
    );
    await using kit = await testGateway({ plugins: [hiding], backends: { far } });
    const client = await at(kit, '/mcp');
    expect(await client.callTool('way_in', { name: 'echo' })).not.toHaveProperty('isError');
    for (const name of ['hidden', 'far.hidden', 'far.echo', 'way_in', 'nothing', '__proto__']) {
      expect(await client.callTool('way_in', { name }), name).toHaveProperty('isError', true);
    }
    expect(far.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('let a dispatcher forward arguments and results unchanged', async () => {
    const far = fakeServer().tool('echo');
    const seen: (string | undefined)[] = [];
    const passing = directPath((core) => {
      core.hooks.authorize.tap('passing', (call) => {
        if (call.name === 'echo') seen.push(call.members.get('arguments')?.toString());
        return undefined;
      });
      core.hooks.shapeCatalog.tap('passing', (draft) => {
        const run: ToolEntry['run'] = async (call) => {
          const bytes = call.members.get('arguments') ?? Buffer.from('{}');
          const reply = await core.perform({ parent: call, name: 'echo', arguments: bytes, isChosen: true });
          if (!('result' in reply)) throw new Error('nothing came');
          return resultFromBytes(reply.result.bytes);
        };
        return { ...draft, tools: draft.tools.map((tool) => (tool.key === 'way_in' ? { ...tool, run } : tool)) };
      });
    });
    await using kit = await testGateway({ plugins: [passing], backends: { far } });
    const client = await testClient(
      async (request) => {
        const body = (await request.text()).replace('"BIG"', '90071992547409931234');
        return kit.gateway.fetch(new Request(request.url, { method: 'POST', headers: request.headers, body }));
      },
      'http://localhost/mcp',
      { era: '2025-11-25' },
    );
    expect(await client.callTool('way_in', { id: 'BIG' })).toHaveProperty('content');
    expect(seen).toEqual(['{"id":90071992547409931234}']);
  });

  it('are the same where nothing is bound to one of them', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('echo') } });
    const catalog = kit.gateway.catalog();
    expect(catalog.direct()).toBe(catalog);
    const reply = await kit.gateway.fetch(new Request(`http://localhost${DIRECT}`, { method: 'POST', body: '{}' }));
    expect(reply.status).toBe(404);
  });

  it('can be limited to one revision: clients of the other one get the supported revision', async () => {
    const legacyOnly = definePlugin({
      address: 'legacy-only',
      config: z.strictObject({}),
      apply: (core) => core.endpoint.serveOnly('2025-11-25'),
    });
    await using kit = await testGateway({ plugins: [legacyOnly], backends: { far: fakeServer().tool('echo') } });
    const modern = await kit.client({ era: '2026-07-28' });
    const refused = await modern.request('tools/list');
    expect(refused).toMatchObject({ status: 400, error: { code: -32022, data: { supported: ['2025-11-25'] } } });
    expect(await (await kit.client({ era: '2025-11-25' })).toolNames()).toEqual(['echo']);
  });

  it('are reopened after a reload with other revisions', async () => {
    const far = () => fakeServer().tool('echo');
    await using before = await testGateway({ backends: { far: far() } });
    await using kit = await testGateway({
      plugins: [directPath(({ endpoint }) => endpoint.serveOnly('2025-11-25'))],
      backends: { far: far() },
      successorOf: before.gateway,
    });
    expect((await (await kit.client()).request('tools/list')).error?.code).toBe(-32022);
    expect(await (await at(kit, DIRECT)).toolNames()).toEqual(['echo']);
  });

  it('are refused when two plugins disagree, or the path is not below the endpoint', async () => {
    const speaking = (era: '2025-11-25' | '2026-07-28') =>
      definePlugin({
        address: `only-${era}`,
        config: z.strictObject({}),
        apply: (core) => core.endpoint.serveOnly(era),
      });
    const boot = (plugins: Plugin[]) => testGateway({ plugins });
    await expect(boot([speaking('2025-11-25'), speaking('2026-07-28')])).rejects.toThrow(/revision 2025-11-25 only/);
    for (const path of ['/other', '/mcp', '/mcp/', 'mcp/x']) {
      await expect(boot([directPath(undefined, path)]), path).rejects.toThrow(/must lie below \/mcp\//);
    }
    const taking = directPath((core) =>
      core.hooks.mount.tap('front', (routes) => routes.add('POST', DIRECT, () => undefined)),
    );
    await expect(boot([taking])).rejects.toMatchObject({ code: 'ROUTE_TAKEN' });
  });
});
