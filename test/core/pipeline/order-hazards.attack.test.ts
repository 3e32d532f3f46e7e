import {
  type CallRecord,
  type CatalogEntry,
  type Core,
  callWith,
  definePlugin,
  type Era,
  encode,
  type JsonObject,
  type Plugin,
  resultFromValue,
  tapDecision,
} from '@toolmgr/core';
import {
  type FakeServer,
  fakeServer,
  type TestClient,
  type TestGateway,
  testClient,
  testGateway,
  text,
} from '@toolmgr/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { legacySession, modernListen } from '../../support/gateway-streams.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { modernRequest, readEvents } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { httpBackend, httpServer, legacyAnswers, modernAnswers } from '../backend/support.ts';

const LEGACY: Era = '2025-11-25';
const MODERN: Era = '2026-07-28';
const ERAS = [LEGACY, MODERN] as const;
const NO = { refused: true, status: 403, reason: 'not for you' } as const;

const plugin = (address: string, apply: (core: Core) => void): Plugin =>
  definePlugin({ address, config: z.strictObject({}), apply });

/** One of everything that can be called. */
const everything = (): FakeServer => {
  const server = fakeServer().tool('danger').prompt('plan', 'x').resource('memo://1', 'x').template('memo://t/{id}');
  server.capabilities.completions = {};
  return server.on('completion/complete', () => ({ completion: { values: [] } }));
};

const ARGUMENT = { name: 'a', value: '' };

/** Every request that reaches an entry, and every list, by era. */
const SURFACES: readonly { readonly method: string; readonly params?: JsonObject; readonly only?: Era }[] = [
  { method: 'tools/call', params: { name: 'danger', arguments: {} } },
  { method: 'prompts/get', params: { name: 'plan' } },
  { method: 'resources/read', params: { uri: 'memo://1' } },
  { method: 'resources/read', params: { uri: 'memo://t/7' } },
  { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'plan' }, argument: ARGUMENT } },
  { method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: 'memo://1' }, argument: ARGUMENT } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/resource', uri: 'memo://t/{id}' }, argument: ARGUMENT },
  },
  { method: 'resources/subscribe', params: { uri: 'memo://1' }, only: LEGACY },
];

const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;

/** Clients of both eras over both adapters: in memory, and over a real socket. */
async function openClients(
  kit: TestGateway,
): Promise<{ clients: [string, Era, TestClient][]; close(): Promise<void> }> {
  const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
  const url = `${server.url}/mcp`;
  const clients: [string, Era, TestClient][] = [];
  for (const era of ERAS) {
    clients.push([`memory, ${era}`, era, await kit.client({ era })]);
    clients.push([`socket, ${era}`, era, await testClient((request) => fetch(request), url, { era })]);
  }
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
  };
  return { clients, close };
}

const reached = ({ received }: FakeServer): readonly string[] =>
  received.map(({ method }) => method).filter((method) => SURFACES.some((surface) => surface.method === method));

describe('a refusing plugin', () => {
  for (const stage of ['authorize', 'limit'] as const) {
    proves('choice.order.refusal-everywhere', `is heard on every surface when it taps ${stage}`, async () => {
      const server = everything();
      const refusing = plugin('no', ({ hooks }) => hooks[stage].tapPromise('no', async () => NO));
      await using kit = await testGateway({ plugins: [refusing], backends: { far: server } });
      const { clients, close } = await openClients(kit);
      const heard: string[] = [];
      for (const [name, era, client] of clients) {
        for (const { method, params, only } of SURFACES) {
          if (only !== undefined && only !== era) continue;
          if (stage === 'limit' && method === 'resources/subscribe') continue; // a subscription is not a call
          const { status, error, result } = await client.request(method, params);
          if (status !== 403 || error === undefined || result !== undefined) heard.push(`${name}: ${method} ${status}`);
        }
      }
      await close();
      expect(heard).toEqual([]);
      expect(reached(server).filter((method) => stage === 'authorize' || method !== 'resources/subscribe')).toEqual([]);
      expect(await kit.gateway.perform({ name: 'danger' })).toEqual({ refusal: NO });
    });
  }

  proves('choice.order.refusal-everywhere', 'is heard for what a modern client listens to', async () => {
    const server = everything();
    const refusing = plugin('no', ({ hooks }) => hooks.authorize.tap('no', () => NO));
    await using kit = await testGateway({ plugins: [refusing], backends: { far: server } });
    const listen = await modernListen(kit.gateway, { resourceSubscriptions: ['memo://1'], toolsListChanged: true });
    const first = await listen.next();
    expect(first?.message.params?.notifications).toEqual({ toolsListChanged: true });
    await listen.close();
    expect(server.received.some(({ params }) => JSON.stringify(params).includes('memo://1'))).toBe(false);
  });

  proves('choice.order.refusal-everywhere', 'is heard by every request when it says who callers are', async () => {
    let isOpen = true;
    const caller = { issuer: 'i', subject: 's', key: 'i\0s', claims: {} };
    const gate = plugin('gate', ({ hooks }) => hooks.authenticate.tap('gate', () => (isOpen ? caller : NO)));
    const server = everything();
    await using kit = await testGateway({ plugins: [gate], backends: { far: server } });
    const session = await legacySession(kit.gateway);
    const { clients, close } = await openClients(kit);
    isOpen = false;
    const heard: string[] = [];
    const methods = [...SURFACES, ...Object.keys(LISTS).map((method) => ({ method, params: {} }))];
    const more = ['initialize', 'ping', 'server/discover', 'logging/setLevel', 'subscriptions/listen', 'made/up'];
    for (const [name, , client] of clients) {
      for (const { method, params } of [...methods, ...more.map((method) => ({ method, params: {} }))]) {
        const { status } = await client.request(method, params);
        if (status !== 403) heard.push(`${name}: ${method} ${status}`);
      }
      expect(await client.notify('notifications/cancelled', { requestId: 1 })).toBe(403);
    }
    const { headers } = session;
    for (const method of ['GET', 'DELETE']) {
      const request = new Request('http://localhost/mcp', {
        method,
        headers: { ...headers, accept: 'text/event-stream' },
      });
      expect((await kit.gateway.fetch(request)).status).toBe(403);
    }
    await close();
    expect(heard).toEqual([]);
    expect(reached(server)).toEqual([]);
    isOpen = true;
    expect((await session.request('ping')).result).toEqual({});
  });

  proves(
    'choice.order.refusal-everywhere',
    'is heard for inner calls, also of hidden tools, at every depth',
    async () => {
      const server = fakeServer().tool('danger').tool('hidden');
      const replies: unknown[] = [];
      const refusing = plugin('no', ({ hooks }) =>
        hooks.authorize.tap('no', ({ target }) => (target.backend === 'far' ? NO : undefined)),
      );
      const inner = plugin('inner', (core) => {
        const virtual = (key: string, names: readonly string[]): CatalogEntry<'tool'> => ({
          kind: 'tool',
          key,
          backend: 'inner',
          original: key,
          definition: encode({ name: key, inputSchema: { type: 'object' } }),
          shapedBy: ['inner'],
          run: async (parent) => {
            for (const name of names) replies.push(await core.perform({ parent, name, arguments: {} }));
            return resultFromValue({ content: [] });
          },
        });
        core.hooks.shapeCatalog.tap('inner', (draft) => ({
          ...draft,
          tools: [
            ...draft.tools.map((tool) =>
              tool.original === 'hidden' ? { ...tool, hiddenBy: 'filter' as const } : tool,
            ),
            virtual('shallow', ['danger', 'far.hidden']),
            virtual('deep', ['shallow']),
          ],
        }));
      });
      await using kit = await testGateway({ plugins: [refusing, inner], backends: { far: server } });
      for (const era of ERAS) {
        const client = await kit.client({ era });
        replies.length = 0;
        await client.callTool('deep');
        expect(replies.slice(0, 2)).toEqual([{ refusal: NO }, { refusal: NO }]);
        expect(replies).toHaveLength(3);
      }
      expect(reached(server)).toEqual([]);
    },
  );

  it('is not asked again for curated inner calls, nor are limits; the outer call passes both', async () => {
    const server = fakeServer().tool('step');
    const asked: string[] = [];
    const deciding = plugin('deciding', ({ hooks }) => {
      hooks.authorize.tap('deciding', ({ name }) => void asked.push(`authorize ${name}`));
      hooks.limit.tap('deciding', ({ name }) => void asked.push(`limit ${name}`));
    });
    const composing = plugin('composing', (core) => {
      const outer: CatalogEntry<'tool'> = {
        kind: 'tool',
        key: 'outer',
        backend: 'composing',
        original: 'outer',
        definition: encode({ name: 'outer', inputSchema: { type: 'object' } }),
        shapedBy: ['composing'],
        run: async (parent) => {
          const reply = await core.perform({ parent, name: 'step', arguments: {}, curated: true });
          return 'result' in reply ? reply.result : resultFromValue({ content: [], isError: true });
        },
      };
      core.hooks.shapeCatalog.tap('composing', (draft) => ({ ...draft, tools: [...draft.tools, outer] }));
    });
    await using kit = await testGateway({ plugins: [deciding, composing], backends: { far: server } });
    await (await kit.client({ era: ERAS[0] })).callTool('outer');
    expect(asked).toEqual(['authorize outer', 'limit outer']);
    expect(reached(server)).toHaveLength(1);
  });

  describe('before backends over HTTP', () => {
    it('keeps a call from either transport', async () => {
      const legacy = await httpServer(legacyAnswers());
      const modern = await httpServer(modernAnswers());
      const refusing = plugin('no', ({ hooks }) => hooks.authorize.tap('no', () => NO));
      const backends = { l: httpBackend(legacy.url), m: httpBackend(modern.url) };
      await using kit = await testGateway({ plugins: [refusing], backends, plan: {} });
      for (const { key } of kit.gateway.catalog().visible('tool')) {
        expect(await kit.gateway.perform({ name: key })).toEqual({ refusal: NO });
      }
      expect([...legacy.of('tools/call'), ...modern.of('tools/call')]).toEqual([]);
    });
  });
});

describe('one decision', () => {
  proves('choice.order.list-and-call-agree', 'serves the lists and the calls, for each caller', async () => {
    const isFor = ({ key, kind }: CatalogEntry, subject: string): boolean =>
      subject === 'admin' || (kind === 'tool' ? key === 'safe' : key.includes('open'));
    const policy = plugin('policy', ({ hooks }) => {
      hooks.authenticate.tap('policy', ({ headers }) => {
        const subject = headers.authorization ?? 'guest';
        return { issuer: 'i', subject, key: `i\0${subject}`, claims: {} };
      });
      tapDecision(hooks, 'policy', async (entry, { subject }) => (isFor(entry, subject) ? undefined : NO));
    });
    const server = fakeServer()
      .tool('safe')
      .tool('danger')
      .prompt('open', 'x')
      .prompt('closed', 'x')
      .resource('memo://open', 'x')
      .resource('memo://closed', 'x')
      .template('memo://open/{id}')
      .template('memo://closed/{id}')
      .on('resources/read', ({ params }) => ({ contents: [{ uri: String(params.uri), text: 'x' }] }));
    await using kit = await testGateway({ plugins: [policy], backends: { far: server } });
    for (const era of ERAS) {
      for (const subject of ['guest', 'admin']) {
        const client = await kit.client({ era, headers: { authorization: subject } });
        const listed = async (method: keyof typeof LISTS, name: string): Promise<unknown[]> => {
          const { result } = await client.request(method);
          return (result?.[LISTS[method]] as JsonObject[]).map((item) => item[name]);
        };
        const statusOf = async (method: string, params: JsonObject): Promise<number> =>
          (await client.request(method, params)).status;
        const tools = await listed('tools/list', 'name');
        expect(tools).toEqual(subject === 'admin' ? ['danger', 'safe'] : ['safe']);
        for (const name of ['safe', 'danger']) {
          expect(await statusOf('tools/call', { name, arguments: {} })).toBe(tools.includes(name) ? 200 : 403);
        }
        const prompts = await listed('prompts/list', 'name');
        for (const name of ['open', 'closed']) {
          expect(await statusOf('prompts/get', { name })).toBe(prompts.includes(name) ? 200 : 403);
        }
        const uris = await listed('resources/list', 'uri');
        const templates = await listed('resources/templates/list', 'uriTemplate');
        for (const name of ['open', 'closed']) {
          const uri = `memo://${name}`;
          expect(await statusOf('resources/read', { uri })).toBe(uris.includes(uri) ? 200 : 403);
          const below = await statusOf('resources/read', { uri: `${uri}/7` });
          expect(below).toBe(templates.includes(`${uri}/{id}`) ? 200 : 403);
        }
      }
    }
  });
});

describe('a rewrite', () => {
  const renaming = (to: string): Plugin =>
    plugin('rename', ({ hooks }) =>
      hooks.rewriteCall.tap('rename', (call) => (call.name === 'safe' ? callWith(call, { name: to }) : call)),
    );
  const spent: string[] = [];
  const policy = plugin('policy', ({ hooks }) => {
    tapDecision(hooks, 'policy', ({ key }) => (key === 'danger' ? NO : undefined));
    hooks.limit.tap('policy', ({ name, target }) => void spent.push(`${name}/${target.original}`));
  });

  proves('choice.order.rename-decided-again', 'cannot carry a call past policy, limits or filters', async () => {
    const server = fakeServer().tool('safe').tool('danger').tool('other', 'other').tool('hidden');
    const filter = plugin('filter', ({ hooks }) =>
      hooks.shapeCatalog.tap('filter', (draft) => ({
        ...draft,
        tools: draft.tools.map((tool) => (tool.key === 'hidden' ? { ...tool, hiddenBy: 'filter' as const } : tool)),
      })),
    );
    const outcome = async (to: string): Promise<unknown> => {
      await using kit = await testGateway({ plugins: [renaming(to), policy, filter], backends: { far: server } });
      const { status, error, result } = await (await kit.client()).request('tools/call', {
        name: 'safe',
        arguments: {},
      });
      return result?.content ?? [status, error?.code];
    };
    spent.length = 0;
    expect(await outcome('danger')).toEqual([403, 403]);
    expect(await outcome('hidden')).toEqual([200, -32602]);
    expect(await outcome('nowhere')).toEqual([200, -32602]);
    expect(reached(server)).toEqual([]);
    expect(spent).toEqual([]);
    expect(await outcome('other')).toEqual([{ type: 'text', text: 'other' }]);
    expect(spent).toEqual(['other/other']);
    expect(server.received.filter(({ method }) => method === 'tools/call').map(({ params }) => params.name)).toEqual([
      'other',
    ]);
  });

  proves('choice.order.headers-after-rewrite', 'is what the headers to the backend speak of', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const tools = ['safe', 'other'].map((name) => ({ name, inputSchema }));
    const backend = await httpServer(modernAnswers({ tools }));
    const moving = plugin('move', ({ hooks }) =>
      hooks.rewriteCall.tap('move', (call) => callWith(call, { arguments: { region: 'eu' } })),
    );
    const plugins = [renaming('other'), moving];
    await using kit = await testGateway({ plugins, backends: { far: httpBackend(backend.url) } });
    const reply = await kit.gateway.perform({ name: 'safe', arguments: { region: 'us' } });
    expect(reply).toHaveProperty('result');
    const [got] = backend.of('tools/call');
    expect(got?.headers).toMatchObject({ 'mcp-name': 'other', 'mcp-method': 'tools/call', 'mcp-param-region': 'eu' });
    expect(got?.message?.params).toMatchObject({ name: 'other', arguments: { region: 'eu' } });
  });
});

describe('a gateway with a tap on every hook', () => {
  const everywhere = plugin('all', ({ hooks }) => {
    hooks.rewriteCall.tapPromise('all', async (call) => call);
    hooks.authorize.tapPromise('all', async () => undefined);
    hooks.limit.tapPromise('all', async () => undefined);
    hooks.rewriteResult.tapPromise('all', async (result) => result);
    hooks.advertise.tapPromise('all', async (entries) => entries);
    hooks.wrapDispatch.tap('all', (dispatch) => async (call) => dispatch(call));
    hooks.callSettled.tap('all', () => {});
  });

  for (const era of ERAS) {
    proves('choice.order.no-buffering', `hands on what comes before the result at once, to ${era}`, async () => {
      let finish: () => void = () => {};
      const server = fakeServer().tool('work', async ({ progress }) => {
        progress(1);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return text('done');
      });
      await using kit = await testGateway({ plugins: [everywhere], backends: { far: server } });
      const params = { name: 'work', arguments: {}, _meta: { progressToken: 'p' } };
      const modern = modernRequest('tools/call', params, { meta: { progressToken: 'p' } });
      const legacy = { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers: {} };
      const { body, headers } = era === MODERN ? modern : legacy;
      const session = era === MODERN ? {} : (await legacySession(kit.gateway)).headers;
      const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const all = { ...both, ...headers, ...session };
      const init = { method: 'POST', headers: all, body: JSON.stringify(body) };
      const events = readEvents(await kit.gateway.fetch(new Request('http://localhost/mcp', init)));
      const first = await events.next(); // arrives while the backend still works
      expect(first?.message).toMatchObject({ method: 'notifications/progress', params: { progress: 1 } });
      finish();
      expect((await events.next())?.message.result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    });
  }
});

describe('callSettled', () => {
  const records: CallRecord[] = [];
  let kit: TestGateway;
  beforeAll(async () => {
    const recorder = plugin('recorder', ({ hooks }) => {
      hooks.callSettled.tap('recorder', (record) => void records.push(record));
      hooks.rewriteCall.tap('recorder', (call) => {
        if (call.name === 'torn') throw new Error('torn');
        return call.name === 'renamed' ? callWith(call, { name: 'nowhere' }) : call;
      });
      hooks.authorize.tap('recorder', ({ name }) => (name === 'refused' ? NO : undefined));
      hooks.limit.tap('recorder', ({ name }) => (name === 'limited' ? { ...NO, status: 429 } : undefined));
      hooks.rewriteResult.tap('recorder', (result, { name }) => {
        if (name === 'spoilt') throw new Error('spoilt');
        return result;
      });
    });
    const server = fakeServer();
    for (const name of ['fine', 'torn', 'renamed', 'refused', 'limited', 'spoilt']) server.tool(name);
    server.tool('failing', () => text('no', { isError: true }));
    server.tool('erring', () => {
      throw { code: -32050, message: 'no' };
    });
    server.tool('hanging', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)));
    const dead = await deadBackend();
    kit = await testGateway({ plugins: [recorder], backends: { far: server, dead: httpBackend(dead.url) } });
    await dead.die();
  });
  afterAll(() => kit[Symbol.asyncDispose]());

  const outcomes = [
    ['fine', 'ok'],
    ['failing', 'toolError'],
    ['refused', 'refused'],
    ['limited', 'refused'],
    ['erring', 'error'],
    ['torn', 'fault'],
    ['spoilt', 'fault'],
    ['renamed', 'error'],
    ['echo', 'fault'],
  ] as const;
  for (const [name, outcome] of outcomes) {
    proves('choice.order.settle-always', `is told once of a call that ends as ${outcome}: ${name}`, async () => {
      for (const era of ERAS) {
        records.length = 0;
        await (await kit.client({ era })).request('tools/call', { name, arguments: {} });
        expect(records.map((record) => [record.call.name, record.outcome])).toEqual([[name, outcome]]);
      }
    });
  }

  proves('choice.order.settle-always', 'is told once of a call that was cancelled', async () => {
    records.length = 0;
    const leaving = new AbortController();
    const client = await kit.client();
    const calling = client.request('tools/call', { name: 'hanging', arguments: {} }, leaving.signal);
    await until(() => kit.gateway.counts().callsInFlight === 1);
    leaving.abort();
    await calling.catch(() => {});
    await until(() => records.length > 0);
    expect(records.map(({ outcome }) => outcome)).toEqual(['cancelled']);
  });
});

/** A backend that lists its tools and then goes away for good. */
async function deadBackend(): Promise<{ url: string; die(): Promise<void> }> {
  const server = await loopbackServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const message = body === '' ? undefined : JSON.parse(body);
      const got = { method: request.method ?? '', path: '', headers: request.headers, message, body, response };
      modernAnswers()(got);
    });
  });
  return {
    url: `${server.url}/mcp`,
    async die() {
      await server[Symbol.asyncDispose]();
    },
  };
}
