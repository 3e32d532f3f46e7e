import {
  type CallRecord,
  type CatalogEntry,
  type Core,
  definePlugin,
  type Era,
  encode,
  type JsonObject,
  type Plugin,
  resultFromValue,
  tapDecision,
} from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modernListen } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const NO = { refused: true, status: 403, reason: 'not for you' } as const;

const plugin = (address: string, apply: (core: Core) => void): Plugin =>
  definePlugin({ address, config: z.strictObject({}), apply });

/** Three kinds of policy: nothing by name, nothing at all, and one that knows entries by more than their names. */
const POLICIES: Readonly<Record<string, (entry: CatalogEntry) => boolean>> = {
  'names that begin with open': ({ key }) => key.replace('memo://', '').startsWith('open'),
  nothing: () => false,
  'whatever is not of the far backend': ({ backend }) => backend !== 'far',
};

const ARGUMENT = { name: 'a', value: '' };
const calls = (name: string): readonly (readonly [string, JsonObject, Era?])[] => [
  ['tools/call', { name, arguments: { region: 'x' } }],
  ['tools/call', { name, arguments: {}, requestState: 'made up' }],
  ['prompts/get', { name }],
  ['resources/read', { uri: `memo://${name}` }],
  ['resources/subscribe', { uri: `memo://${name}` }, '2025-11-25'],
  ['completion/complete', { ref: { type: 'ref/prompt', name }, argument: ARGUMENT }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: `memo://${name}` }, argument: ARGUMENT }],
];

const far = () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  const server = fakeServer()
    .tool('hidden', 'x', { inputSchema: { type: 'object', properties: { region } } })
    .prompt('hidden', 'x')
    .resource('memo://hidden', 'x');
  server.capabilities.completions = {};
  return server.on('completion/complete', () => ({ completion: { values: [] } }));
};

describe('an unlisted name', () => {
  for (const [says, mayUse] of Object.entries(POLICIES)) {
    proves('choice.order.calls-tell-no-more-than-lists', `is answered alike, there or not, with ${says}`, async () => {
      const policy = plugin('policy', ({ hooks }) =>
        tapDecision(hooks, 'policy', (entry) => (mayUse(entry) ? undefined : NO)),
      );
      const answersOf = async (name: string): Promise<unknown[]> => {
        const server = far();
        await using kit = await testGateway({ plugins: [policy], backends: { far: server } });
        const heard: unknown[] = [];
        for (const era of ERAS) {
          const client = await kit.client({ era });
          expect(await client.toolNames()).toEqual([]);
          for (const [method, params, only] of calls(name)) {
            if (only !== undefined && only !== era) continue;
            const { status, error, result } = await client.request(method, params);
            expect([method, result]).toEqual([method, undefined]);
            heard.push(JSON.parse(JSON.stringify([method, status, error]).replaceAll(name, 'NAME')));
          }
        }
        heard.push(JSON.parse(JSON.stringify(await kit.gateway.perform({ name })).replaceAll(name, 'NAME')));
        expect(server.received.filter(({ method }) => calls(name).some(([called]) => called === method))).toEqual([]);
        return heard;
      };
      expect(await answersOf('hidden')).toEqual(await answersOf('absent'));
    });
  }

  proves('choice.order.calls-tell-no-more-than-lists', 'is answered alike to inner calls', async () => {
    const replies: unknown[] = [];
    const policy = plugin('policy', (core) => {
      tapDecision(core.hooks, 'policy', ({ backend }) => (backend === 'far' ? NO : undefined));
      core.hooks.shapeCatalog.tap('policy', (draft) => {
        const run: CatalogEntry<'tool'>['run'] = async (parent) => {
          for (const name of ['hidden', 'absent']) replies.push(await core.perform({ parent, name, arguments: {} }));
          return resultFromValue({ content: [] });
        };
        const definition = encode({ name: 'outer', inputSchema: { type: 'object' } });
        const outer = {
          kind: 'tool',
          key: 'outer',
          backend: 'p',
          original: 'outer',
          definition,
          shapedBy: [],
          run,
        } as const;
        return { ...draft, tools: [...draft.tools, outer] };
      });
    });
    await using kit = await testGateway({ plugins: [policy], backends: { far: far() } });
    await (await kit.client()).callTool('outer');
    expect(JSON.parse(JSON.stringify(replies[0]).replaceAll('hidden', 'absent'))).toEqual({
      ...(replies[1] as object),
    });
  });

  it('is not acknowledged to a listener, there or not', async () => {
    const policy = plugin('policy', ({ hooks }) => tapDecision(hooks, 'policy', () => NO));
    await using kit = await testGateway({ plugins: [policy], backends: { far: far() } });
    const listen = await modernListen(kit.gateway, { resourceSubscriptions: ['memo://hidden', 'memo://absent'] });
    expect((await listen.next())?.message.params?.notifications).toEqual({});
    await listen.close();
  });
});

describe('a name that the lists show', () => {
  it('is refused in the words of the policy that looked at the arguments, and recorded so', async () => {
    const records: CallRecord[] = [];
    const policy = plugin('policy', ({ hooks }) => {
      hooks.advertise.tap('policy', (entries) => entries.filter(({ key }) => key === 'hidden'));
      hooks.authorize.tap('policy', ({ arguments: given }) => (given.region === 'x' ? NO : undefined));
      hooks.callSettled.tap('policy', (record) => void records.push(record));
    });
    const server = fakeServer().tool('hidden', 'x').tool('other', 'x');
    await using kit = await testGateway({ plugins: [policy], backends: { far: server } });
    const client = await kit.client();
    const ask = (name: string, region: string) => client.request('tools/call', { name, arguments: { region } });
    expect((await ask('hidden', 'x')).error).toEqual({ code: 403, message: 'not for you' });
    expect((await ask('hidden', 'y')).result).toBeDefined();
    expect((await ask('other', 'x')).error).toEqual((await ask('absent', 'x')).error);
    expect(records.map(({ call, outcome, refusal }) => [call.name, outcome, refusal])).toEqual([
      ['hidden', 'refused', NO],
      ['hidden', 'ok', undefined],
      ['other', 'refused', NO],
    ]);
  });

  it('may be left out of the lists and used all the same: then a limit says so in its own words', async () => {
    const limited = { refused: true, status: 429, reason: 'slow down', retryAfterMs: 1000 } as const;
    const quiet = plugin('quiet', ({ hooks }) => {
      hooks.advertise.tap('quiet', () => []);
      hooks.limit.tap('quiet', ({ arguments: given }) => (given.region === 'x' ? limited : undefined));
    });
    await using kit = await testGateway({ plugins: [quiet], backends: { far: fakeServer().tool('hidden', 'x') } });
    const client = await kit.client();
    expect((await client.request('tools/call', { name: 'hidden', arguments: {} })).result).toBeDefined();
    const { error } = await client.request('tools/call', { name: 'hidden', arguments: { region: 'x' } });
    expect(error).toMatchObject({ code: 429, message: 'slow down' });
  });

  it('is unknown as before where no policy objects to the name', async () => {
    await using kit = await testGateway({ backends: { far: far() } });
    for (const era of ERAS) {
      const { error } = await (await kit.client({ era })).request('tools/call', { name: 'absent', arguments: {} });
      expect(error).toMatchObject({ code: -32602, message: 'unknown tool: tool "absent" not found' });
    }
  });

  it('is closed when a plugin fails to decide about an unknown name', async () => {
    const broken = plugin('broken', ({ hooks }) =>
      hooks.authorize.tap('broken', () => {
        throw new Error('secret-cause');
      }),
    );
    await using kit = await testGateway({ plugins: [broken], backends: { far: far() } });
    const { status, error, text } = await (await kit.client()).request('tools/call', { name: 'absent', arguments: {} });
    expect([status, error?.code]).toEqual([500, -32603]);
    expect(text).not.toContain('secret-cause');
  });
});
