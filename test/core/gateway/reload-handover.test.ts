import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { definePlugin, GatewayFault, type PlanInput, type Plugin } from '@toolmgr/core';
import {
  type FakeServer,
  fakeServer,
  type TestBackends,
  type TestGateway,
  testGateway,
  text,
} from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';
import { callersByHeader, INITIALIZE, legacy, openAt, request } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';

const CALL = request('tools/call', { name: 'where', arguments: {} });

/** Signs every result, so that one sees whose plugins a call ended with. */
const signing = (mark: string): Plugin =>
  definePlugin({
    address: 'testing/signing',
    config: z.strictObject({ mark: z.string().default(mark) }),
    apply(core, config) {
      core.hooks.authorize.tap('testing/signing', (call) =>
        call.method === 'resources/subscribe' && config.mark === 'strict'
          ? { refused: true, status: 403, reason: 'not any more' }
          : undefined,
      );
      core.hooks.callSettled.tap('testing/signing', ({ call }) => void settled.push(`${config.mark}:${call.name}`));
    },
  });
let settled: string[] = [];

interface Generation {
  readonly mark?: string;
  readonly plan?: Partial<PlanInput>;
  readonly plugins?: readonly Plugin[];
}

function generation(
  backends: TestBackends,
  before?: TestGateway,
  { mark = 'one', plan = {}, plugins = [] }: Generation = {},
): Promise<TestGateway> {
  return testGateway({
    backends,
    plugins: [signing(mark), callersByHeader, ...plugins],
    plan,
    ...(before === undefined ? {} : { successorOf: before.gateway }),
  });
}

/** Lets the gateway before end what it began, then stops it, as a host does. */
const retire = async ({ gateway }: TestGateway): Promise<void> => {
  await gateway.drained();
  await gateway.stop();
};

const where = (): FakeServer => fakeServer(['2025-11-25']).tool('where', 'here');

/** What comes on the GET stream of a session. */
async function listen(at: TestGateway, id: string) {
  const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
  const response = await at.gateway.fetch(new Request('http://localhost/mcp', { headers }));
  let seen = '';
  let hasEnded = false;
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of response.body ?? []) seen += decoder.decode(chunk as Uint8Array);
    hasEnded = true;
  })();
  return { seen: () => seen, hasEnded: () => hasEnded };
}

describe('a gateway that replaces another', () => {
  proves(
    ['choice.reload.session-moves', 'choice.reload.backend-stays'],
    'continues the sessions of clients and of unchanged backends',
    async () => {
      const server = where();
      const first = await generation({ one: server });
      const id = await openAt(first);
      await legacy(first, id, CALL);
      const opened = server.opened;
      const second = await generation({ one: server }, first, { mark: 'two' });
      await retire(first);
      expect((await legacy(second, id, CALL)).json.result).toEqual(text('here'));
      expect(server.opened).toBe(opened);
      expect(second.gateway.counts().sessions).toBe(1);
      const third = await generation({ one: server }, second);
      await retire(second);
      expect((await legacy(third, id, CALL)).json.result).toEqual(text('here'));
      expect(server.opened).toBe(opened);
      await third.gateway.stop();
      expect(third.gateway.counts()).toMatchObject({ sessions: 0, links: 0, processes: 0 });
    },
  );

  proves(
    'choice.reload.failed',
    'is not made when its lists cannot be, and the one before hears its backends as before',
    async () => {
      const [one, two] = [where(), where()];
      const first = await generation({ one });
      const id = await openAt(first);
      await legacy(first, id, CALL);
      const opened = one.opened;
      const colliding: Plugin = definePlugin({
        address: 'testing/colliding',
        config: z.strictObject({}),
        apply: (core) =>
          core.hooks.shapeCatalog.tap('testing/colliding', () => {
            throw new GatewayFault('CATALOG_CONFLICT', 'where: [one, two]');
          }),
      });
      const before = first.gateway.counts();
      for (let n = 0; n < 3; n++) {
        await expect(generation({ one, two }, first, { plugins: [colliding] })).rejects.toThrow('where: [one, two]');
      }
      expect(first.gateway.counts()).toEqual(before);
      expect((await legacy(first, id, CALL)).json.result).toEqual(text('here'));
      expect(one.opened).toBe(opened);
      one.tool('more');
      one.notify('notifications/tools/list_changed');
      await until(() => first.gateway.catalog().find('tool', 'more') !== undefined);
      const second = await generation({ one }, first);
      await retire(first);
      expect((await legacy(second, id, CALL)).json.result).toEqual(text('here'));
      await second.gateway.stop();
      expect(second.gateway.counts()).toMatchObject({ sessions: 0, links: 0, processes: 0 });
    },
  );

  proves('choice.reload.backend-stays', 'opens a backend anew that is described in another way', async () => {
    const [one, two] = [where(), where()];
    const first = await generation({ one });
    const id = await openAt(first);
    await legacy(first, id, CALL);
    const second = await generation({ two }, first);
    await retire(first);
    expect((await legacy(second, id, CALL)).json.result).toEqual(text('here'));
    expect(two.opened).toBeGreaterThan(0);
    await second.gateway.stop();
  });

  proves('choice.reload.keeps-call', 'finishes a call with the plugins with which it started', async () => {
    settled = [];
    let finish = (): void => {};
    const server = where().tool('slow', () => new Promise((resolve) => (finish = () => resolve(text('late')))));
    const first = await generation({ one: server }, undefined, { mark: 'old' });
    const id = await openAt(first);
    const slow = legacy(first, id, request('tools/call', { name: 'slow' }, 7));
    await until(() => server.received.some(({ params }) => params.name === 'slow'));
    const second = await generation({ one: server }, first, { mark: 'new' });
    const retired = retire(first);
    expect((await legacy(second, id, CALL)).status).toBe(200);
    finish();
    expect((await slow).json.result).toEqual(text('late'));
    await retired;
    expect(settled).toEqual(['new:where', 'old:slow']);
    await second.gateway.stop();
  });

  proves('choice.reload.cancels', 'cancels a call of the one before when its client wishes', async () => {
    const server = where().tool(
      'slow',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    );
    const first = await generation({ one: server });
    const id = await openAt(first);
    const slow = legacy(first, id, request('tools/call', { name: 'slow' }, 7));
    await until(() => server.received.some(({ params }) => params.name === 'slow'));
    const second = await generation({ one: server }, first);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await legacy(second, id, cancelled)).status).toBe(202);
    expect((await slow).status).toBe(202);
    await retire(first);
    await second.gateway.stop();
  });

  proves(
    ['choice.reload.stream-stays', 'choice.reload.list-changed'],
    'keeps event streams open, and tells on them which lists differ',
    async () => {
      const server = where();
      const first = await generation({ one: server });
      const id = await openAt(first);
      const stream = await listen(first, id);
      const same = await generation({ one: server }, first);
      await retire(first);
      const more = await generation({ one: server, other: fakeServer().tool('more') }, same);
      await retire(same);
      await until(() => stream.seen().includes('notifications/tools/list_changed'));
      expect(stream.seen().match(/list_changed/g)).toHaveLength(1);
      expect(stream.hasEnded()).toBe(false);
      server.tool('fresh').notify('notifications/tools/list_changed');
      await until(() => (stream.seen().match(/tools\/list_changed/g) ?? []).length === 2);
      await more.gateway.stop();
      await until(() => stream.hasEnded());
    },
  );

  proves(
    'choice.reload.subscription',
    'keeps subscriptions, also to backends that it opens anew, unless its policy refuses',
    async () => {
      const watched = () => fakeServer(['2025-11-25']).resource('file:///a', 'a').tool('where', 'here');
      const server = watched();
      const first = await generation({ one: server });
      const id = await openAt(first);
      const stream = await listen(first, id);
      await legacy(first, id, request('resources/subscribe', { uri: 'file:///a' }));
      const updated = (n: number) => until(() => (stream.seen().match(/resources\/updated/g) ?? []).length === n);
      const kept = await generation({ one: server }, first);
      await retire(first);
      server.notify('notifications/resources/updated', { uri: 'file:///a' });
      await updated(1);
      // other credentials: the backend is opened anew
      const plan = { outgoingAuth: { default: { type: 'unauthenticated', options: { other: true } } } };
      const anew = await generation({ one: server }, kept, { plan });
      await retire(kept);
      await until(() => server.received.filter(({ method }) => method === 'resources/subscribe').length === 2);
      server.notify('notifications/resources/updated', { uri: 'file:///a' });
      await updated(2);
      const strict = await generation({ one: server }, anew, { plan, mark: 'strict' });
      await retire(anew);
      await until(() => server.received.some(({ method }) => method === 'resources/unsubscribe'));
      expect((await legacy(strict, id, CALL)).status).toBe(200);
      await strict.gateway.stop();
    },
  );

  proves('choice.reload.not-fitting', 'ends the sessions that do not fit, and says why', async () => {
    const server = where();
    const others: [Partial<PlanInput>, string][] = [
      [{ limits: { sessions: 5 } }, 'limits changed'],
      [{ endpoint: { path: '/other' } }, 'endpoint changed'],
      [{ name: 'another' }, 'name changed'],
    ];
    for (const [plan, why] of others) {
      const first = await generation({ one: server });
      const id = await openAt(first);
      const second = await generation({ one: server }, first, { plan });
      await retire(first);
      expect(second.logged.join()).toContain(why);
      expect((await legacy(second, id, CALL)).status).toBe(404);
      expect(second.gateway.counts().sessions).toBe(0);
      await second.gateway.stop();
    }
  });

  proves(
    ['choice.reload.not-fitting', 'choice.reload.streams-prove'],
    'has streams opened anew when callers are known in another way, and ends sessions when by others',
    async () => {
      const doorman = (address: string) =>
        definePlugin({
          address,
          config: z.strictObject({ leeway: z.int().default(0) }),
          apply: (core) =>
            core.hooks.authenticate.tap(address, () => ({ issuer: 'x', subject: 'y', key: 'x\0y', claims: {} })),
        });
      const guarded = (before: TestGateway | undefined, address: string, leeway: number) =>
        testGateway({
          backends: { one: server },
          plugins: [doorman(address)],
          plan: { plugins: [{ use: address, with: { leeway } }] },
          ...(before === undefined ? {} : { successorOf: before.gateway }),
        });
      const server = where();
      const first = await guarded(undefined, 'testing/doorman', 1);
      const id = await openAt(first);
      const stream = await listen(first, id);
      const same = await guarded(first, 'testing/doorman', 1);
      await retire(first);
      expect((await legacy(same, id, CALL)).status).toBe(200);
      expect(stream.hasEnded()).toBe(false);
      const stricter = await guarded(same, 'testing/doorman', 0);
      await retire(same);
      await until(() => stream.hasEnded());
      expect((await legacy(stricter, id, CALL)).status).toBe(200);
      const another = await guarded(stricter, 'testing/other-doorman', 0);
      await retire(stricter);
      expect(another.logged.join()).toContain('the plugins that authenticate callers changed');
      expect((await legacy(another, id, CALL)).status).toBe(404);
      await another.gateway.stop();
    },
  );

  proves(
    ['choice.reload.streams-prove', 'choice.reload.backend-stays'],
    'has streams and backends opened anew when a plugin from a file has other settings or other code',
    async () => {
      const doorman = () =>
        definePlugin({
          address: 'testing/doorman',
          config: z.strictObject({ leeway: z.int().default(0) }),
          apply: (core) =>
            core.hooks.authenticate.tap('testing/doorman', () => ({
              issuer: 'x',
              subject: 'y',
              key: 'x\0y',
              claims: {},
            })),
        });
      const guarded = (before: TestGateway | undefined, plugin: Plugin, leeway: number) =>
        testGateway({
          backends: { one: server },
          importFile: async () => ({ default: plugin }),
          plan: { plugins: [{ use: './doorman.ts', with: { leeway } }] },
          ...(before === undefined ? {} : { successorOf: before.gateway }),
        });
      const server = where();
      const code = doorman();
      let now = await guarded(undefined, code, 1);
      const id = await openAt(now);
      await legacy(now, id, CALL);
      for (const [plugin, leeway, isSame] of [
        [code, 1, true],
        [code, 0, false],
        [doorman(), 0, false],
      ] as const) {
        const stream = await listen(now, id);
        const { opened } = server;
        const next = await guarded(now, plugin, leeway);
        await retire(now);
        expect((await legacy(next, id, CALL)).status).toBe(200);
        expect(server.opened > opened).toBe(!isSame);
        if (isSame) expect(stream.hasEnded()).toBe(false);
        else await until(() => stream.hasEnded());
        now = next;
      }
      await now.gateway.stop();
    },
  );

  proves('choice.reload.not-fitting', 'ends sessions when lists come to depend on who asks', async () => {
    const server = where();
    const exchanged = definePlugin({
      address: 'testing/exchanged',
      config: z.strictObject({}),
      apply: ({ slots }) =>
        slots.authStrategies.register('exchanged', { prepare: async () => ({ perCaller: true, apply: () => {} }) }),
    });
    const first = await generation({ one: server });
    const id = await openAt(first);
    const plan = { outgoingAuth: { default: { type: 'exchanged' } } };
    const second = await generation({ one: server }, first, { plan, plugins: [exchanged] });
    await retire(first);
    expect(second.logged.join()).toContain('whether credentials depend on callers changed');
    expect((await legacy(second, id, CALL)).status).toBe(404);
    await second.gateway.stop();
  });

  proves('choice.reload.failed', 'leaves everything as it was when it cannot start', async () => {
    const server = where();
    const first = await generation({ one: server });
    const id = await openAt(first);
    const stream = await listen(first, id);
    await legacy(first, id, CALL);
    const opened = server.opened;
    const broken = definePlugin({
      address: 'testing/broken',
      config: z.strictObject({}),
      apply: (core) =>
        core.hooks.starting.tap('testing/broken', () => {
          throw new Error('not today');
        }),
    });
    await expect(generation({ one: server }, first, { plugins: [broken] })).rejects.toThrow('testing/broken');
    expect((await legacy(first, id, CALL)).json.result).toEqual(text('here'));
    expect([server.opened, stream.hasEnded(), first.gateway.counts().sessions]).toEqual([opened, false, 1]);
    const second = await generation({ one: server }, first);
    await retire(first);
    expect((await legacy(second, id, CALL)).status).toBe(200);
    await second.gateway.stop();
  });

  proves('choice.reload.parked', 'continues a call that waits for its client, and records it once', async () => {
    settled = [];
    const server = fakeServer(['2025-11-25']).tool('ask', async ({ ask }) => {
      const { roots } = await ask('roots/list', {});
      return text(JSON.stringify(roots));
    });
    const first = await generation({ one: server }, undefined, { mark: 'old' });
    let second: TestGateway | undefined;
    let retired: Promise<void> | undefined;
    const client = await first.client({
      capabilities: { roots: {} },
      answer: async () => {
        second = await generation({ one: server }, first, { mark: 'new' });
        retired = retire(first);
        return { roots: [{ uri: 'file:///mine' }] };
      },
    });
    expect(await client.callTool('ask')).toMatchObject(text('[{"uri":"file:///mine"}]'));
    await retired;
    expect(settled).toHaveLength(1);
    await second?.gateway.stop();
  });
});

describe('a session that moved', () => {
  proves('choice.reload.owner', 'still belongs to its caller', async () => {
    const server = where();
    const first = await generation({ one: server });
    const opened = await legacy(first, undefined, INITIALIZE, { 'x-caller': 'ada' });
    const id = opened.headers.get('mcp-session-id') ?? '';
    const second = await generation({ one: server }, first);
    await retire(first);
    expect((await legacy(second, id, CALL, { 'x-caller': 'eve' })).status).toBe(404);
    expect((await legacy(second, id, CALL, { 'x-caller': 'ada' })).status).toBe(404);
    await second.gateway.stop();
  });
});

describe('many reloads', () => {
  proves('choice.reload.no-leak', 'leave no more than the first and the last two gateways in memory', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const server = where();
    const gone: WeakRef<object>[] = [];
    let current = await generation({ one: server });
    for (let n = 0; n < 8; n++) {
      const next = await generation({ one: server }, current);
      await retire(current);
      gone.push(new WeakRef(current.gateway));
      current = next;
    }
    const alive = () => gone.filter((ref) => ref.deref() !== undefined).length;
    await until(() => {
      gc();
      return alive() <= 2;
    });
    await current.gateway.stop();
  });
});
