import { type Call, type CatalogDraft, definePlugin, type Era } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestClient, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

/** A server that has any resource of its scheme, whatever its list says. */
function library(scheme: string, listed: string | undefined, eras?: readonly Era[]): FakeServer {
  const server = fakeServer(eras);
  if (listed !== undefined) server.resource(listed, 'listed');
  server.capabilities.resources = { subscribe: true };
  return server.on('resources/read', ({ params: { uri } }) => {
    if (!String(uri).startsWith(scheme)) throw { code: -32002, message: 'not one of mine', data: { uri } };
    return { contents: [{ uri, text: `from ${scheme}` }] };
  });
}

const asked = (server: FakeServer): unknown[] =>
  server.received.flatMap(({ method, params }) => (method === 'resources/read' ? [params.uri] : []));

const read = async (client: TestClient, uri: string): Promise<unknown> => {
  const { result, error } = await client.request('resources/read', { uri });
  return error ?? (result?.contents as { text: string }[])[0]?.text;
};

/** A plugin that replaces parts of the catalogue. */
const hide = (change: (draft: CatalogDraft) => Partial<CatalogDraft>) =>
  definePlugin({
    address: 'test/hiding',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.shapeCatalog.tap('test/hiding', (draft) => ({ ...draft, ...change(draft) }));
    },
  });

describe('a resource that no list names', () => {
  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    proves('choice.resource.unlisted', `is read at the only backend with resources (${era})`, async () => {
      const server = library('memo:', undefined, [era]);
      await using kit = await testGateway({ backends: { far: server, tools: fakeServer().tool('t') } });
      const client = await kit.client({ era });
      expect(await read(client, 'memo://deep/7')).toBe('from memo:');
      const code = era === '2025-11-25' ? -32002 : -32602;
      expect(await read(client, 'other://x')).toMatchObject({ code, message: 'not one of mine' });
      expect(await read(client, 'no uri')).toMatchObject({ code });
      expect(asked(server)).toEqual(['memo://deep/7', 'other://x']);
    });
  }

  proves('choice.resource.unlisted', 'can be subscribed to', async () => {
    const server = library('memo:', undefined, ['2025-11-25']);
    await using kit = await testGateway({ backends: { far: server } });
    const session = await legacySession(kit.gateway);
    const stream = await session.stream();
    expect(await session.request('resources/subscribe', { uri: 'memo://live' })).toMatchObject({ result: {} });
    await until(() => server.received.some(({ method }) => method === 'resources/subscribe'));
    server.notify('notifications/resources/updated', { uri: 'memo://live' });
    expect((await stream.next())?.message).toMatchObject({ params: { uri: 'memo://live' } });
    await stream.close();
  });

  proves(
    'choice.resource.unlisted-owner',
    'is read at the backend that alone lists its scheme or authority',
    async () => {
      const memo = library('memo:', 'memo://listed');
      const web = library('https://docs.test', 'https://docs.test/start');
      const more = library('https://more.test', 'https://more.test/start');
      await using kit = await testGateway({ backends: { memo, web, more } });
      const client = await kit.client();
      expect(await read(client, 'MEMO://other/1')).toMatchObject({ code: -32602 }); // a policy that names memo: would not match it
      expect(await read(client, 'memo://other/1')).toBe('from memo:');
      expect(await read(client, 'https://docs.test/deep?x=1')).toBe('from https://docs.test');
      expect(await read(client, 'https://more.test/deep')).toBe('from https://more.test');
      expect([memo, web, more].map((server) => asked(server).length)).toEqual([1, 1, 1]);
    },
  );

  proves(
    'choice.resource.unlisted-ambiguous',
    'belongs to no backend when several may have it, and the error names them',
    async () => {
      const [one, other] = [library('memo:', 'memo://one'), library('memo:', 'memo://other/x')];
      await using kit = await testGateway({ backends: { one, other } });
      const client = await kit.client({ era: '2025-11-25' });
      for (const uri of ['memo://third', 'file:///x']) {
        const error = { code: -32002, message: expect.stringContaining('one, other'), data: { uri } };
        expect(await read(client, uri)).toMatchObject(error);
      }
      expect(await read(client, 'memo://other/y')).toBe('from memo:');
      expect([asked(one), asked(other)]).toEqual([[], ['memo://other/y']]);
    },
  );

  proves('choice.resource.unlisted-hidden', 'is not a way to what a plugin took off the list', async () => {
    const hiding = hide((draft) => ({
      resources: draft.resources.filter(({ key }) => key !== 'memo://secret'),
      templates: draft.templates.filter(({ key }) => key !== 'memo://secrets/{id}'),
    }));
    const server = library('memo:', 'memo://secret').resource('memo://open', 'o').template('memo://secrets/{id}');
    const closed = library('shut:', undefined).template('memo://secrets/{id}');
    await using kit = await testGateway({ plugins: [hiding], backends: { server, closed } });
    const client = await kit.client();
    for (const uri of [
      'memo://secret',
      'memo://secrets/1',
      'memo://open/../secret',
      'memo://open/%2e%2E/secret',
      'memo://open/..',
    ]) {
      expect(await read(client, uri), uri).toMatchObject({ code: -32602 });
    }
    expect([...asked(server), ...asked(closed)]).toEqual([]);
    expect(await read(client, 'memo://open/1')).toBe('from memo:');
  });

  proves(
    'choice.resource.unlisted-hidden',
    'belongs to no other backend when its owner no longer lists anything',
    async () => {
      const hiding = hide((draft) => ({
        resources: draft.resources.filter(({ backend }) => backend !== 'owner'),
      }));
      const [owner, other] = [library('memo:', 'memo://listed'), library('note:', 'note://listed')];
      await using kit = await testGateway({ plugins: [hiding], backends: { owner, other } });
      const client = await kit.client();
      expect(await read(client, 'note://more')).toBe('from note:');
      expect(await read(client, 'memo://more')).toMatchObject({ code: -32602 });
      expect([...asked(owner), ...asked(other)]).toEqual(['note://more']);
    },
  );

  proves('choice.resource.unlisted-policy', 'is decided by policy under its URI and its backend', async () => {
    const decided: string[] = [];
    const guard = definePlugin({
      address: 'test/guard',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.authorize.tap('test/guard', ({ name, target }: Call) => {
          decided.push(`${name} of ${target.backend}`);
          return name.includes('secret')
            ? { refused: true, status: 403, reason: 'forbidden', message: 'not yours' }
            : undefined;
        });
        hooks.advertise.tap('test/guard', (entries) => [...entries]);
      },
    });
    const [one, other] = [library('memo:', 'memo://one'), library('file:', 'file:///one')];
    await using kit = await testGateway({ plugins: [guard], backends: { one, other } });
    const client = await kit.client();
    expect(await read(client, 'memo://secret')).toMatchObject({ code: 403 });
    expect(await read(client, 'memo://plain')).toBe('from memo:');
    const nobodys = await read(client, 'third://x');
    expect(nobodys).toMatchObject({ code: -32602, message: 'resource not found: third://x' });
    expect(asked(one)).toEqual(['memo://plain']);
    expect(decided).toEqual(['memo://secret of one', 'memo://plain of one', 'third://x of ']);
  });
});
