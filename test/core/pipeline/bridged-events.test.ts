import type { JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { META } from '../../../core/mcp/meta.ts';
import { legacySession, modernListen } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const metaOf = (params: JsonObject): JsonObject => (params._meta ?? {}) as JsonObject;

describe('a modern client of a legacy backend', () => {
  proves(
    'choice.bridge.modern-to-legacy-log-level',
    'hears log messages of the level it asked for and above, and none when it asked for none',
    async () => {
      const server = fakeServer(['2025-11-25']).tool('work', ({ log }) => {
        for (const level of ['debug', 'warning', 'error']) log(level, `${level}!`);
        return text('done');
      });
      server.capabilities.logging = {};
      await using kit = await testGateway({ backends: { far: server } });
      const client = await kit.client();
      const heard = async (meta: JsonObject): Promise<unknown[]> => {
        const { told } = await client.request('tools/call', { name: 'work', arguments: {}, _meta: meta });
        return told.map(({ params }) => (params as JsonObject).level);
      };
      expect(await heard({ [META.logLevel]: 'warning' })).toEqual(['warning', 'error']);
      expect(await heard({ [META.logLevel]: 'debug' })).toEqual(['debug', 'warning', 'error']);
      expect(await heard({})).toEqual([]);
    },
  );

  proves(
    'choice.bridge.modern-to-legacy-subscribe',
    'listens to a resource by a subscription at the backend, which ends with the listen',
    async () => {
      const server = fakeServer(['2025-11-25']).resource('memo://1', 'a').resource('memo://2', 'b');
      await using kit = await testGateway({ backends: { far: server } });
      const listen = await modernListen(kit.gateway, { resourceSubscriptions: ['memo://1'] });
      const first = await listen.next();
      expect(first?.message).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { resourceSubscriptions: ['memo://1'] } },
      });
      const subscribed = server.received.filter(({ method }) => method === 'resources/subscribe');
      expect(subscribed.map(({ params }) => params.uri)).toEqual(['memo://1']);
      server.notify('notifications/resources/updated', { uri: 'memo://2' });
      server.notify('notifications/resources/updated', { uri: 'memo://1' });
      const update = await listen.next();
      expect(update?.message).toMatchObject({
        method: 'notifications/resources/updated',
        params: { uri: 'memo://1', _meta: { [META.subscriptionId]: 'listen' } },
      });
      await listen.close();
      await until(() => server.received.some(({ method }) => method === 'resources/unsubscribe'));
    },
  );
});

describe('a legacy client of a modern backend', () => {
  proves(
    'choice.bridge.legacy-to-modern-log-level',
    'sets its level once, and each of its requests carries it to the backend',
    async () => {
      const server = fakeServer(['2026-07-28']).tool('work', ({ log }) => {
        log('error', 'oh');
        return text('done');
      });
      server.capabilities.logging = {};
      await using kit = await testGateway({ backends: { far: server } });
      const client = await kit.client({ era: '2025-11-25' });
      const levels = () =>
        server.received
          .filter(({ method }) => method === 'tools/call')
          .map(({ params }) => metaOf(params)[META.logLevel]);
      expect((await client.request('logging/setLevel', { level: 'error' })).result).toEqual({});
      const { told } = await client.request('tools/call', { name: 'work', arguments: {} });
      await client.callTool('work');
      expect(levels()).toEqual(['error', 'error']);
      expect(told).toMatchObject([{ method: 'notifications/message', params: { level: 'error', data: 'oh' } }]);
      await client.request('logging/setLevel', { level: 'emergency' });
      await client.callTool('work');
      expect(levels()).toEqual(['error', 'error', 'emergency']);
    },
  );

  proves(
    'choice.bridge.legacy-to-modern-subscribe',
    'subscribes to a resource by a listen at the backend and gets updates on its stream',
    async () => {
      const server = fakeServer(['2026-07-28']).resource('memo://1', 'a');
      await using kit = await testGateway({ backends: { far: server } });
      const session = await legacySession(kit.gateway);
      const stream = await session.stream();
      expect(await session.request('resources/subscribe', { uri: 'memo://1' })).toMatchObject({ result: {} });
      const listens = () => server.received.filter(({ method }) => method === 'subscriptions/listen');
      await until(() => listens().some(({ params }) => JSON.stringify(params.notifications).includes('"memo://1"')));
      expect(server.received.some(({ method }) => method === 'resources/subscribe')).toBe(false);
      server.notify('notifications/resources/updated', { uri: 'memo://1' });
      const update = await stream.next();
      expect(update?.message).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'memo://1' } });
      expect(update?.data).not.toContain(META.subscriptionId);
      await stream.close();
    },
  );
});

describe('a legacy client of a legacy backend', () => {
  proves('choice.legacy.elicitation-complete', 'hears that a page was finished, long after its call', async () => {
    const server = fakeServer(['2025-11-25']).tool('work', 'done');
    await using kit = await testGateway({ backends: { far: server } });
    const session = await legacySession(kit.gateway);
    const stream = await session.stream();
    expect(await session.request('tools/call', { name: 'work', arguments: {} })).toHaveProperty('result');
    server.notify('notifications/unheard', {});
    server.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    const { message } = (await stream.next()) ?? {};
    expect(message).toMatchObject({
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'e1' },
    });
    await stream.close();
  });
});
