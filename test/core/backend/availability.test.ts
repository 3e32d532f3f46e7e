import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import {
  answer,
  httpBackend,
  httpServer,
  legacyAnswers,
  managerWith,
  modernAnswers,
  refuse,
  send,
  testManager,
  testOwner,
  textOf,
} from './support.ts';

const CALL = { backend: 'far', original: 'echo' } as const;

/** A port without a listener. */
async function deadPort(): Promise<number> {
  const server = await httpServer(() => undefined);
  await server.close();
  return server.port;
}

describe('an unavailable backend', () => {
  proves(
    ['ask.backend.away-cause', 'choice.backend.away-call'],
    'fails calls at once and names the cause',
    async () => {
      const { manager } = await managerWith([httpBackend(`http://127.0.0.1:${await deadPort()}/mcp`)]);
      expect(manager.states()[0]).toMatchObject({ status: 'unavailable', cause: { category: 'refused' } });
      const times: number[] = [];
      for (let n = 0; n < 3; n++) {
        const startedMs = performance.now();
        const failed = send(manager, CALL);
        await expect(failed).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE', category: 'refused' });
        await expect(failed).rejects.toThrow('backend "far" is unavailable (refused)');
        times.push(performance.now() - startedMs);
      }
      expect(Math.min(...times)).toBeLessThan(200); // the fastest: the machine of the test has other work
    },
  );

  proves(
    ['ask.backend.away-list', 'choice.backend.away-list-kept', 'choice.backend.away-leaves'],
    'keeps its lists for the grace period, then they are withdrawn with one event',
    async () => {
      const server = await httpServer(modernAnswers());
      const { manager, listed, changed } = await managerWith([httpBackend(server.url)], {
        limits: { listGraceMs: 1_500 },
      });
      await server.close();
      // A suspicion within a second of the hello is a passing one.
      await until(async () => {
        await send(manager, CALL).catch(() => undefined);
        return manager.states()[0]?.status === 'unavailable';
      });
      expect(manager.listings('').get('far')?.tools).toHaveLength(1);
      await until(() => manager.listings('').size === 0);
      expect(listed).toEqual(['far/', 'far/']);
      expect(changed.map((event) => `${event.change} ${event.state?.status}`)).toEqual([
        'added unknown',
        'status ready',
        'status unavailable',
      ]);
    },
  );

  it('is reconnected automatically', async () => {
    const port = await deadPort();
    const { manager, listed } = await managerWith([httpBackend(`http://127.0.0.1:${port}/mcp`)]);
    expect(manager.states()[0]?.status).toBe('unavailable');
    await httpServer(legacyAnswers(), port);
    await until(() => manager.states()[0]?.status === 'ready');
    expect(textOf(await send(manager, CALL))).toBe('legacy');
    expect(listed).toEqual(['far/']);
  });

  it('comes back without an event when its lists are the same', async () => {
    const first = await httpServer(legacyAnswers());
    const { manager, listed } = await managerWith([httpBackend(first.url)]);
    await first.close();
    await until(async () => {
      await send(manager, CALL).catch(() => undefined);
      return manager.states()[0]?.status === 'unavailable';
    });
    await httpServer(legacyAnswers(), first.port);
    await until(() => manager.states()[0]?.status === 'ready');
    expect(listed).toEqual(['far/']);
  });

  proves(
    ['ask.backend.dead-no-delay', 'choice.backend.discovery-deadline'],
    'delays neither the lists nor the calls of another',
    async () => {
      const hanging = await httpServer(() => undefined);
      const dead = httpBackend(`http://127.0.0.1:${await deadPort()}/mcp`, { name: 'dead' });
      const live = await httpServer(legacyAnswers());
      const startedMs = Date.now();
      const backends = [httpBackend(hanging.url, { name: 'hanging' }), dead, httpBackend(live.url)];
      const { manager } = await managerWith(backends, { limits: { discoveryMs: 300 } });
      expect(Date.now() - startedMs).toBeLessThan(2_000);
      expect([...manager.listings('').keys()]).toEqual(['far']);
      expect(textOf(await send(manager, CALL))).toBe('legacy');
      expect(manager.states().map(({ backend, status }) => `${backend.name} ${status}`)).toEqual([
        'dead unavailable',
        'far ready',
        'hanging unknown',
      ]);
      await manager.prepareOwner(testOwner('session:w', { roots: {} }).owner);
      await manager.stop();
      expect(manager.counts()).toEqual({ links: 0, processes: 0, callsInFlight: 0 });
    },
  );
});

describe('the set of backends', () => {
  it('keeps equal ones, replaces changed ones and keeps their lists, and closes removed ones', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager, listed, changed } = testManager();
    manager.replace([httpBackend(server.url)]);
    await manager.settling();
    manager.replace([{ url: server.url, transport: 'streamable-http', name: 'far' }]);
    expect(server.of('initialize')).toHaveLength(1);
    manager.replace([httpBackend(server.url, { era: 'legacy' })]);
    expect(manager.listings('').get('far')?.tools).toHaveLength(1);
    await until(() => server.of('initialize').length === 2);
    await until(() => manager.states()[0]?.status === 'ready');
    expect(listed).toEqual(['far/']);
    manager.replace([]);
    expect(manager.states()).toEqual([]);
    expect(listed).toEqual(['far/', 'far/']);
    expect(changed.at(-1)).toEqual({ name: 'far', change: 'removed', state: undefined });
    await until(() => server.all.filter((got) => got.method === 'DELETE').length === 2);
  });

  it.each([
    ['a subscription that was not acknowledged yet', 'subscriptions/listen'],
    ['lists that were not read yet', 'tools/list'],
    ['a hello that was not answered yet', 'server/discover'],
  ])('stops without a warning about %s', async (_, hanging) => {
    const server = await httpServer(
      modernAnswers({
        capabilities: { tools: { listChanged: true } },
        before: ({ message }) => message?.method === hanging || message?.method === 'subscriptions/listen',
      }),
    );
    const { manager, lines } = testManager();
    manager.replace([httpBackend(server.url)]);
    await until(() => server.of(hanging).length > 0);
    await manager.stop();
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('stops without a warning about a log level that was not taken yet', async () => {
    const hanging = 'logging/setLevel';
    const server = await httpServer(
      legacyAnswers({
        capabilities: { tools: {}, logging: {} },
        before: ({ message }) => message?.method === hanging,
      }),
    );
    const { manager, lines } = await managerWith([httpBackend(server.url)]);
    const { owner } = testOwner('session:quiet', {});
    await send(manager, { ...CALL, owner }).catch(() => undefined);
    manager.setLogLevel(owner, 'debug');
    await until(() => server.of(hanging).length > 0);
    await manager.stop();
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('does not start anything after the stop', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager } = testManager();
    await manager.stop();
    manager.replace([httpBackend(server.url)]);
    expect(manager.states()).toEqual([]);
  });
});

describe('the lists of a backend', () => {
  proves(['choice.backend.page-walk', 'ask.limit.page-walk'], 'are walked page by page up to a bound', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'tools/list') return false;
          const page = Number(got.message.params?.cursor ?? 0);
          answer(got, {
            tools: [{ name: `t${page}`, inputSchema: {} }],
            ...(page < 4 ? { nextCursor: String(page + 1) } : {}),
          });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(
      manager
        .listings('')
        .get('far')
        ?.tools.map((tool) => tool.key),
    ).toEqual(['t0', 't1', 't2', 't3', 't4']);
    const { manager: bounded } = await managerWith([httpBackend(server.url)], { limits: { pageWalk: 3 } });
    expect(bounded.states()[0]).toMatchObject({ status: 'unavailable', cause: { category: 'protocol' } });
  });

  proves('choice.backend.page-cycle', 'with a cursor that comes again are an error of that backend only', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'tools/list') return false;
          answer(got, { tools: [], nextCursor: '' });
          return true;
        },
      }),
    );
    const live = await httpServer(legacyAnswers());
    const { manager } = await managerWith([httpBackend(server.url, { name: 'cycle' }), httpBackend(live.url)]);
    expect(manager.states().map(({ status }) => status)).toEqual(['unavailable', 'ready']);
    expect(manager.states()[0]?.cause?.message).toContain('same cursor twice');
  });

  proves(
    'choice.backend.templates-not-found',
    'are empty where the method is unknown, and not asked for without the capability',
    async () => {
      const server = await httpServer(
        legacyAnswers({
          capabilities: { resources: {} },
          before: (got) => {
            if (got.message?.method !== 'resources/list') return false;
            answer(got, { resources: [{ uri: 'a://b', name: 'b' }] });
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)]);
      expect(manager.listings('').get('far')).toMatchObject({ tools: [], prompts: [], templates: [] });
      expect(manager.listings('').get('far')?.resources).toHaveLength(1);
      expect(server.of('resources/templates/list')).toHaveLength(1);
      expect(server.of('tools/list')).toHaveLength(0);
    },
  );

  proves(
    'choice.backend.duplicate-tool-names',
    'keep the first of two tools with one name, with a warning',
    async () => {
      const tools = [
        { name: 'twin', title: 'first', inputSchema: {} },
        { name: 'twin', title: 'second', inputSchema: {} },
      ];
      const server = await httpServer(legacyAnswers({ tools }));
      const { manager, lines } = await managerWith([httpBackend(server.url)]);
      const listed = manager.listings('').get('far')?.tools ?? [];
      expect(listed.map((tool) => tool.definition.toString())).toEqual([
        '{"name":"twin","title":"first","inputSchema":{}}',
      ]);
      expect(lines.some(({ fields }) => fields?.item === 'twin')).toBe(true);
    },
  );

  proves(
    'choice.encoding.param-invalid-dropped',
    'lose tools whose header annotations are invalid, or only the annotations',
    async () => {
      const schema = { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } };
      const tools = [{ name: 'bad', inputSchema: schema }];
      const modern = await httpServer(modernAnswers({ tools }));
      const legacy = await httpServer(legacyAnswers({ tools }));
      const { manager } = await managerWith([httpBackend(modern.url, { name: 'modern' }), httpBackend(legacy.url)]);
      expect(manager.listings('').get('modern')?.tools).toEqual([]);
      expect(manager.listings('').get('far')?.tools[0]?.definition.toString()).toBe(
        '{"name":"bad","inputSchema":{"type":"object","properties":{"n":{"type":"number"}}}}',
      );
    },
  );

  it('that cannot be read make the backend unavailable', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'tools/list') return false;
          refuse(got, -32603, 'database down');
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.states()[0]?.status).toBe('unavailable');
  });
});
