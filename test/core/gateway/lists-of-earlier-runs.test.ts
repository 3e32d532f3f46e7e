import type { Backend, GatewayOptions, JsonObject, Log } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { heldServer, program, startingGateway } from '../../support/starting-gateway.ts';
import { until } from '../../support/until.ts';

/** A store in memory; `lines` are the messages of the gateway. */
function memoryStore(kept = new Map<string, unknown>()) {
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const listStore: NonNullable<GatewayOptions['listStore']> = {
    read: ({ name }: Backend) => kept.get(name),
    write: ({ name }, lists) => void kept.set(name, JSON.parse(JSON.stringify(lists))),
  };
  return { kept, lines, options: { listStore, log } };
}

const namesIn = ({ result }: { result: JsonObject }) =>
  (result.tools as readonly { readonly name: string }[]).map(({ name }) => name);
const SOON = { discoveryMs: 50 };

/** What a first run with a server keeps. */
async function keptFrom(server: ReturnType<typeof fakeServer>) {
  const store = memoryStore();
  const { gateway, list } = await startingGateway({ one: server }, (push) => push([program('one')]), {}, store.options);
  await list();
  await gateway.stop();
  return store.kept;
}

describe('lists of an earlier run', () => {
  proves(
    'ask.up.lists-of-last-time',
    'are served while the backend has not answered, and replaced by its own with a notification',
    async () => {
      const kept = await keptFrom(fakeServer(['2026-07-28']).tool('old'));
      const store = memoryStore(kept);
      const slow = heldServer('fresh');
      const { list, gateway } = await startingGateway(
        { one: slow.server },
        (push) => push([program('one')]),
        SOON,
        store.options,
      );
      const first = await list();
      expect(namesIn(first)).toEqual(['old']);
      expect(first.result.ttlMs).toBe(0);
      expect(store.lines).toContain('info lists of an earlier run are served until the backend has answered');
      slow.release();
      await until(async () => namesIn(await list())[0] === 'fresh');
      expect((await list()).result.ttlMs).toBeGreaterThan(0);
      expect(JSON.stringify(store.kept.get('one'))).toContain('fresh');
      expect(gateway.backends()[0]?.status).toBe('ready');
    },
  );

  it('are not served when the backend answers in time, and equal ones are kept without a further change', async () => {
    const server = () => fakeServer(['2025-11-25']).tool('echo');
    const store = memoryStore(await keptFrom(server()));
    const { list } = await startingGateway({ one: server() }, (push) => push([program('one')]), {}, store.options);
    expect(namesIn(await list())).toEqual(['echo']);
    expect(store.lines.filter((line) => line.startsWith('info lists of'))).toEqual([]);
  });

  it('stay while a first start is running, and leave after the grace period when it failed', async () => {
    const kept = await keptFrom(fakeServer(['2026-07-28']).tool('old'));
    const slow = heldServer('fresh');
    const limits = { ...SOON, listGraceMs: 10 };
    const { options } = memoryStore(kept);
    const { list } = await startingGateway({ one: slow.server }, (push) => push([program('one')]), limits, options);
    const begunMs = performance.now();
    await until(() => performance.now() - begunMs > 5 * limits.listGraceMs);
    expect(namesIn(await list())).toEqual(['old']);
    slow.release();
    const missing = { ...program('one'), command: { file: '/no/such/program', args: [] } };
    const other = await startingGateway({}, (push) => push([missing]), limits, memoryStore(kept).options);
    await until(async () => (await other.list()).error !== undefined);
  });

  it('of a backend with credentials of callers are neither kept nor served', async () => {
    const kept = await keptFrom(fakeServer(['2026-07-28']).tool('old'));
    const authStrategy = { prepare: async () => ({ perCaller: true, apply() {} }) };
    const slow = heldServer('own');
    const store = memoryStore(kept);
    const { list } = await startingGateway({ one: slow.server }, (push) => push([program('one')]), SOON, {
      ...store.options,
      authStrategy,
    });
    expect(namesIn(await list())).toEqual([]);
    slow.release();
    await until(async () => namesIn(await list())[0] === 'own');
    expect(JSON.stringify(store.kept.get('one'))).toContain('old');
  });

  const hello = { info: {}, capabilities: {}, instructions: null, protocolVersion: '2025-11-25' };
  const empty = { era: '2025-11-25', hello, tools: [], prompts: [], resources: [], templates: [] };
  it.each([
    ['text', 'x'],
    ['an unknown era', { ...empty, era: 'x' }],
    ['no greeting', { ...empty, hello: undefined }],
    ['a tool that is no JSON', { ...empty, tools: ['{"name":"a"'] }],
    ['a tool without a name', { ...empty, tools: ['{}'] }],
    ['a tool that would end the list', { ...empty, tools: ['{"name":"a"}],"x":[{"name":"b"}'] }],
    ['two tools of one name', { ...empty, tools: ['{"name":"a"}', '{"name":"a"}'] }],
    ['a list that is none', { ...empty, resources: {} }],
  ])('with %s are ignored with a log line', async (_, value) => {
    const store = memoryStore(new Map([['one', value]]));
    const slow = heldServer('fresh');
    const { list } = await startingGateway({ one: slow.server }, (push) => push([program('one')]), SOON, store.options);
    expect(namesIn(await list())).toEqual([]);
    expect(store.lines).toContain('warn the lists of an earlier run are not used: they are not valid');
    slow.release();
  });
});
