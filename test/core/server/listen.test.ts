import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import {
  type EventReader,
  modernRequest,
  type OpenEndpoint,
  openEndpoint,
  post,
  postStream,
  readEvents,
} from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const ID = 'io.modelcontextprotocol/subscriptionId';

async function listen(
  open: OpenEndpoint,
  notifications: JsonObject,
  {
    id = 'sub',
    headers = {},
    signal,
  }: { id?: string | number; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<EventReader> {
  const { body, headers: own } = modernRequest('subscriptions/listen', { notifications }, { id });
  return readEvents(await postStream(open.url, body, { ...own, ...headers }, signal));
}

describe('subscriptions/listen', () => {
  proves(
    ['ask.modern.listen', 'choice.listen.acknowledged-first', 'choice.listen.subscription-id'],
    'begins with what is honoured, tagged with its own id',
    async () => {
      await using open = await openEndpoint();
      const asked = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: false,
        somethingElse: true,
        resourceSubscriptions: ['test://a', 'denied:b', 'missing:c', 'broken:d', 'test://a'],
      };
      const stream = await listen(open, asked, { id: 12 });
      expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
      open.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
      expect((await stream.next())?.message).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: { toolsListChanged: true, resourceSubscriptions: ['test://a'] },
          _meta: { [ID]: 12 },
        },
      });
      expect((await stream.next())?.message).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/tools/list_changed',
        params: { _meta: { [ID]: 12 } },
      });
      await stream.close();
      await until(() => open.endpoint.counts().streams === 0 && open.service.watched.length === 0);
    },
  );

  proves('choice.listen.only-what-was-asked', 'brings nothing that was not asked for', async () => {
    await using open = await openEndpoint();
    const stream = await listen(open, { resourcesListChanged: true });
    await stream.next();
    open.service.changeLists({ capabilityClass: '', kinds: ['tools', 'prompts'] });
    open.service.changeLists({ capabilityClass: 'sampling', kinds: ['resources'] });
    open.service.changeLists({ capabilityClass: '', kinds: ['resources'] });
    expect((await stream.next())?.message.method).toBe('notifications/resources/list_changed');
    await stream.close();
  });

  proves(
    'choice.listen.resource-subscriptions',
    'brings updates of exactly its resources, from their backend',
    async () => {
      await using open = await openEndpoint();
      const stream = await listen(open, { resourceSubscriptions: ['test://a'] });
      await stream.next();
      const sink = open.service.owners[0]?.owner.sink;
      const update = (workload: string, uri: string) =>
        sink?.resourceUpdated(workload, Buffer.from(JSON.stringify({ uri, _meta: { [ID]: 'forged', 'v.test/k': 1 } })));
      update('w', 'test://b');
      update('other', 'test://a');
      update('w', 'test://a/b');
      sink?.logged('w', Buffer.from('{"level":"error","data":1}'));
      update('w', 'test://a');
      expect((await stream.next())?.message.params).toEqual({
        uri: 'test://a',
        _meta: { 'v.test/k': 1, [ID]: 'sub' },
      });
      await stream.close();
    },
  );

  proves('choice.listen.several', 'may be open several times, each with its own filter', async () => {
    await using open = await openEndpoint();
    const one = await listen(open, { resourceSubscriptions: ['test://a'] }, { id: 'one' });
    const two = await listen(open, { resourceSubscriptions: ['test://a', 'test://b'] }, { id: 'two' });
    const bob = await listen(
      open,
      { resourceSubscriptions: ['test://a'] },
      { headers: { authorization: 'Bearer bob' } },
    );
    await Promise.all([one.next(), two.next(), bob.next()]);
    expect(open.service.watched).toHaveLength(4);
    const [first] = open.service.owners;
    for (const uri of ['test://b', 'test://a']) {
      first?.owner.sink?.resourceUpdated('w', Buffer.from(JSON.stringify({ uri })));
    }
    expect((await one.next())?.message.params).toEqual({ uri: 'test://a', _meta: { [ID]: 'one' } });
    expect((await two.next())?.message.params?.uri).toBe('test://b');
    expect((await two.next())?.message.params?.uri).toBe('test://a');
    open.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
    await Promise.all([one.close(), two.close()]);
    await until(() => open.service.watched.length === 1);
    await bob.close();
    await until(() => open.service.watched.length === 0);
  });

  proves(['choice.listen.bounded', 'ask.limit.streams'], 'is bounded per caller', async () => {
    await using open = await openEndpoint({ limits: { streamsPerCaller: 2 } });
    const ada = { headers: { authorization: 'Bearer ada' } };
    const open1 = await listen(open, {}, ada);
    const open2 = await listen(open, {}, ada);
    const refused = await listen(open, {}, ada);
    expect(refused.response.status).toBe(429);
    const bob = await listen(open, {}, { headers: { authorization: 'Bearer bob' } });
    expect(bob.response.status).toBe(200);
    await open1.close();
    await until(() => open.endpoint.counts().streams === 2);
    const again = await listen(open, {}, ada);
    expect(again.response.status).toBe(200);
    await Promise.all([open2, bob, again].map((each) => each.close()));
  });

  it('refuses a filter of the wrong shape', async () => {
    await using open = await openEndpoint();
    const filters = [
      [],
      'all',
      { toolsListChanged: 'yes' },
      { resourceSubscriptions: 'test://a' },
      { resourceSubscriptions: [1] },
      { resourceSubscriptions: Array.from({ length: 1025 }, (_, n) => `test://${n}`) },
    ];
    for (const notifications of filters) {
      const { body, headers } = modernRequest('subscriptions/listen', { notifications });
      expect((await post(open.url, body, headers)).json.error?.code).toBe(-32602);
    }
    expect(open.endpoint.counts().streams).toBe(0);
  });

  proves('choice.http.keep-alive', 'sends keep-alive comments', async () => {
    await using open = await openEndpoint({ limits: { keepAliveMs: 100 } });
    const stream = await listen(open, {});
    await stream.next();
    expect((await stream.nextRaw())?.comment).toBe('keep-alive');
    await stream.close();
  });
});

describe('at the stop of an endpoint', () => {
  proves('choice.listen.graceful-end', 'a listen ends with its result', async () => {
    const open = await openEndpoint();
    const stream = await listen(open, { toolsListChanged: true, resourceSubscriptions: ['test://a'] }, { id: 's' });
    await stream.next();
    await open.endpoint.stop();
    const events = await stream.rest();
    expect(events.map(({ message }) => message)).toEqual([
      {
        jsonrpc: '2.0',
        id: 's',
        result: {
          resultType: 'complete',
          _meta: { [ID]: 's', 'io.modelcontextprotocol/serverInfo': { name: 'fake-gateway', version: '1.0.0' } },
        },
      },
    ]);
    expect(open.service.watched).toEqual([]);
    expect(open.endpoint.counts()).toEqual({ sessions: 0, streams: 0 });
    await open[Symbol.asyncDispose]();
  });
});
