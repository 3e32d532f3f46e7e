import { describe, expect, it } from 'vitest';
import { argumentsOf, bytes, text } from '../../support/fake-gateway.ts';
import { openEndpoint, openSession, post } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const initialize = (protocolVersion: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' }, ...more } as never,
});

describe('initialize', () => {
  proves(
    ['ask.legacy.initialize', 'choice.session.id-on-initialize'],
    'opens a session with an id of its own',
    async () => {
      await using open = await openEndpoint();
      const first = await post(open.url, initialize('2025-11-25'));
      const second = await post(open.url, initialize('2025-11-25'));
      expect(first.json).toMatchObject({
        id: 'init',
        result: {
          protocolVersion: '2025-11-25',
          serverInfo: { name: 'fake-gateway', version: '1.0.0' },
          capabilities: { tools: { listChanged: true } },
          instructions: 'Be kind.',
        },
      });
      const ids = [first, second].map(({ headers }) => headers.get('mcp-session-id') ?? '');
      expect(ids[0]).toMatch(/^[\x21-\x7e]{32,128}$/);
      expect(ids[0]).not.toBe(ids[1]);
      expect(open.endpoint.counts().sessions).toBe(2);
      expect(open.service.welcomed).toHaveLength(2);
    },
  );

  proves('choice.session.version-offer', 'settles the version', async () => {
    await using open = await openEndpoint();
    const offers = [
      ['2025-11-25', '2025-11-25'],
      ['2025-06-18', '2025-06-18'],
      ['2025-03-26', '2025-03-26'],
      ['2024-11-05', '2024-11-05'],
      ['2026-07-28', '2025-11-25'],
      ['1.0', '2025-11-25'],
    ] as const;
    for (const [asked, offered] of offers) {
      const reply = await post(open.url, initialize(asked));
      expect([asked, reply.json.result?.protocolVersion]).toEqual([asked, offered]);
    }
    for (const bad of [initialize(5), initialize('2025-11-25', { capabilities: [] })]) {
      expect((await post(open.url, bad)).json.error?.code).toBe(-32602);
    }
  });

  it('makes one owner per session that declares what the client declared', async () => {
    await using open = await openEndpoint();
    await openSession(open.url, { capabilities: { elicitation: {}, experimental: { x: {} } } });
    const [client] = open.service.welcomed;
    expect(client?.owner).toMatchObject({ capabilities: { elicitation: {} }, capabilityClass: 'elicitation' });
    expect(client?.owner.key).toMatch(/^session:/);
  });

  proves(['choice.session.bounded', 'ask.limit.sessions'], 'answers 503 when there is no room', async () => {
    await using open = await openEndpoint({ limits: { sessions: 2, sessionIdleMs: 1000 } });
    for (const name of ['ada', 'bob']) {
      expect((await post(open.url, initialize('2025-11-25'), { authorization: `Bearer ${name}` })).status).toBe(200);
    }
    expect((await post(open.url, initialize('2025-11-25'))).status).toBe(503);
    open.clock.aheadMs = 1001;
    expect((await post(open.url, initialize('2025-11-25'))).status).toBe(200);
    expect(open.ended.map(({ reason }) => reason)).toEqual(['expired', 'expired']);
  });
});

describe('a legacy request', () => {
  proves(
    ['choice.error.legacy-missing-session', 'choice.error.legacy-unknown-session', 'choice.session.unknown-404'],
    'needs a live session',
    async () => {
      await using open = await openEndpoint();
      const list = { jsonrpc: '2.0', id: 4, method: 'tools/list' };
      const missing = await post(open.url, list);
      expect([missing.status, missing.json.error?.code, missing.json.id]).toEqual([400, -32000, 4]);
      const unknown = await post(open.url, list, { 'mcp-session-id': 'unknown' });
      expect([unknown.status, unknown.json.error?.code, unknown.json.id]).toEqual([404, -32001, 4]);
    },
  );

  proves(
    ['choice.session.no-version-header', 'choice.session.bad-version-header'],
    'may name its version',
    async () => {
      await using open = await openEndpoint();
      const session = await openSession(open.url);
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await post(open.url, ping, { 'mcp-session-id': session.id })).json.result).toEqual({});
      const bad = await post(open.url, ping, { 'mcp-session-id': session.id, 'mcp-protocol-version': '1999-01-01' });
      expect(bad.status).toBe(400);
    },
  );

  proves('choice.bridge.legacy-to-modern-ping', 'for ping is answered by the gateway', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    expect((await session.request('ping', {}, 'p')).json).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    expect(open.service.seen).toEqual([]);
  });

  it('for an unknown method is an error with status 200', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    for (const method of ['tools/guess', 'server/discover', 'subscriptions/listen', 'tasks/list']) {
      const reply = await session.request(method);
      expect([reply.status, reply.json.error?.code]).toEqual([200, -32601]);
    }
  });

  it('of an id that is still running is refused', async () => {
    await using open = await openEndpoint();
    open.service.tools.set(
      'wait',
      ({ cancel: { signal } }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(text('x')));
        }),
    );
    const session = await openSession(open.url);
    const first = session.request('tools/call', { name: 'wait' }, 5);
    await until(() => open.service.seen.length === 1);
    const second = await session.request('tools/call', { name: 'wait' }, 5);
    expect([second.status, second.json.error?.code]).toEqual([400, -32600]);
    await session.send({ method: 'notifications/cancelled', params: { requestId: 5 } });
    await first;
  });

  proves(
    'choice.error.resource-not-found-legacy',
    'for a missing resource is -32002, other bad params are not',
    async () => {
      await using open = await openEndpoint();
      const session = await openSession(open.url);
      const missing = await session.request('resources/read', { uri: 'missing:x' });
      expect(missing.json.error).toMatchObject({ code: -32002, data: { uri: 'missing:x' } });
      open.service.answer = async () => ({
        error: { code: -32602, message: 'bad', data: Buffer.from('{"uri":"other:"}') },
      });
      expect((await session.request('resources/read', { uri: 'missing:x' })).json.error?.code).toBe(-32602);
    },
  );

  it('gets its result without what only modern clients know', async () => {
    await using open = await openEndpoint();
    const modern =
      '{"resultType":"complete","content":[],"ttlMs":5,"cacheScope":"public","n":12345678901234567890,"_meta":{"io.modelcontextprotocol/serverInfo":{},"v.test/a":1}}';
    open.service.tools.set('modern', () => bytes(modern));
    open.service.tools.set('plain', () => bytes('{ "content" : [ ] , "x":1.0 }'));
    const session = await openSession(open.url);
    const reply = await session.request('tools/call', { name: 'modern' });
    expect(reply.text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":12345678901234567890,"_meta":{"v.test/a":1}}}',
    );
    const plain = await session.request('tools/call', { name: 'plain' });
    expect(plain.text).toContain('"result":{ "content" : [ ] , "x":1.0 }');
  });

  it('that is limited gets a result a model can read, and one that is denied 403', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    const limited = await session.request('tools/call', { name: 'limited' });
    expect([limited.status, limited.json.result]).toEqual([
      200,
      {
        content: [{ type: 'text', text: 'Rate limit exceeded' }],
        isError: true,
        structuredContent: { code: 429, message: 'Rate limit exceeded', data: { retryAfterSeconds: 2 } },
      },
    ]);
    const denied = await session.request('tools/call', { name: 'denied' });
    expect([denied.status, denied.json.error]).toEqual([
      403,
      { code: 403, message: 'call denied by authorization policy' },
    ]);
    open.service.answer = async () => ({ refusal: { refused: true, status: 429, reason: 'no', retryAfterMs: 1 } });
    const list = await session.request('tools/list');
    expect([list.status, list.json.error?.code, list.json.error?.data]).toEqual([200, 429, { retryAfterSeconds: 1 }]);
  });
});

describe('the end of a session', () => {
  proves(['ask.legacy.delete', 'choice.session.delete', 'choice.session.unknown-404'], 'comes by DELETE', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    const stream = await session.get();
    const reply = await fetch(open.url, { method: 'DELETE', headers: session.headers });
    expect(reply.status).toBe(200);
    expect(await stream.next()).toBe(undefined);
    expect((await session.request('tools/list')).status).toBe(404);
    expect((await fetch(open.url, { method: 'DELETE', headers: session.headers })).status).toBe(404);
    expect(open.service.released).toEqual([`session:${session.id}`]);
    expect(open.ended).toMatchObject([{ sessionId: session.id, reason: 'deleted' }]);
  });

  proves(
    ['choice.session.ttl', 'choice.session.unknown-404'],
    'comes when no request used it for its time, which every use starts again',
    async () => {
      await using open = await openEndpoint({ limits: { sessionIdleMs: 60_000 } });
      const session = await openSession(open.url);
      for (const aheadMs of [50_000, 100_000, 150_000]) {
        open.clock.aheadMs = aheadMs;
        expect((await session.request('ping')).status).toBe(200);
      }
      open.clock.aheadMs = 211_000;
      for (const method of ['ping', 'tools/list']) expect((await session.request(method)).status).toBe(404);
      expect(open.ended).toMatchObject([{ reason: 'expired' }]);
      expect(open.service.released).toHaveLength(1);
    },
  );

  proves('choice.session.ttl', 'comes after half an hour when nothing else is set', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    open.clock.aheadMs = 29 * 60_000;
    expect((await session.request('ping')).status).toBe(200);
    open.clock.aheadMs += 30 * 60_000 - 1_000;
    expect((await session.request('ping')).status).toBe(200);
    open.clock.aheadMs += 30 * 60_000;
    expect((await session.request('ping')).status).toBe(404);
  });

  it('comes by itself, in the sweep, but not while a stream is open', async () => {
    await using open = await openEndpoint({ limits: { sessionIdleMs: 200 } });
    await openSession(open.url);
    const kept = await openSession(open.url);
    const stream = await kept.get();
    await until(() => open.ended.length === 1);
    expect(open.endpoint.counts().sessions).toBe(1);
    expect((await kept.request('ping')).status).toBe(200);
    await stream.close();
    await until(() => open.ended.length === 2);
  });

  proves('choice.session.deleted-calls', 'cancels what runs, and answers it like a later request', async () => {
    await using open = await openEndpoint();
    open.service.tools.set(
      'wait',
      ({ cancel: { signal } }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(text('aborted')));
        }),
    );
    const session = await openSession(open.url);
    const call = session.request('tools/call', { name: 'wait' });
    await until(() => open.service.seen.length === 1);
    await fetch(open.url, { method: 'DELETE', headers: session.headers });
    const { status, json } = await call;
    expect([status, json.error?.code]).toEqual([404, -32001]);
    expect(json.id).toEqual(expect.any(Number));
    const later = await session.request('ping');
    expect([later.status, later.json.error]).toEqual([404, json.error]);
    expect(open.service.seen[0]?.cancel.aborted).toBe(true);
  });
});

describe('a legacy client', () => {
  proves(['ask.legacy.cancel', 'choice.session.cancelled'], 'cancels its own call by id', async () => {
    await using open = await openEndpoint();
    const reasons: string[] = [];
    open.service.tools.set(
      'wait',
      ({ cancel: { signal }, params }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reasons.push(`${params.string('name')} ${argumentsOf({ params } as never).n}: ${signal.reason}`);
            resolve(text('aborted'));
          });
        }),
    );
    const mine = await openSession(open.url);
    const other = await openSession(open.url);
    const calls = [
      mine.request('tools/call', { name: 'wait', arguments: { n: 1 } }, 'a'),
      other.request('tools/call', { name: 'wait', arguments: { n: 2 } }, 'a'),
    ];
    await until(() => open.service.seen.length === 2);
    for (const requestId of ['b', 7, null, {}]) {
      expect((await mine.send({ method: 'notifications/cancelled', params: { requestId } })).status).toBe(202);
    }
    expect(reasons).toEqual([]);
    await mine.send({ method: 'notifications/cancelled', params: { requestId: 'a', reason: 'changed my mind' } });
    await calls[0];
    expect(reasons).toEqual(['wait 1: Error: cancelled: changed my mind']);
    await other.send({ method: 'notifications/cancelled', params: { requestId: 'a' } });
    await calls[1];
    expect(reasons).toHaveLength(2);
  });

  proves(['choice.capability.logging', 'ask.legacy.logging'], 'sets the level of its log messages', async () => {
    await using open = await openEndpoint();
    open.service.tools.set('log', ({ client }) => {
      for (const level of ['debug', 'info', 'error']) {
        client.notify('notifications/message', Buffer.from(`{"level":"${level}","data":1}`));
      }
      return text(`${client.logLevel}`);
    });
    const session = await openSession(open.url);
    const levels = async () => {
      const all = await (await session.stream('tools/call', { name: 'log' })).rest();
      return all.map(({ message }) => message.params?.level ?? 'result');
    };
    expect(await levels()).toEqual(['info', 'error', 'result']);
    expect((await session.request('logging/setLevel', { level: 'error' })).json.result).toEqual({});
    expect(await levels()).toEqual(['error', 'result']);
    expect((await session.request('logging/setLevel', { level: 'debug' })).json.result).toEqual({});
    expect(await levels()).toEqual(['debug', 'info', 'error', 'result']);
    expect((await session.request('logging/setLevel', { level: 'loud' })).json.error?.code).toBe(-32602);
    expect(open.service.levels).toEqual(['error', 'debug']);
  });

  it('tells that its roots changed', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    expect((await session.send({ method: 'notifications/roots/list_changed' })).status).toBe(202);
    expect(open.service.rootsChangedBy).toEqual([`session:${session.id}`]);
  });

  proves('ask.legacy.subscribe', 'subscribes to a resource and gets updates only of that one', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    expect((await session.request('resources/subscribe', { uri: 'test://a' })).json.result).toEqual({});
    expect((await session.request('resources/subscribe', { uri: 'test://a' })).json.result).toEqual({});
    expect(open.service.watched).toHaveLength(1);
    const stream = await session.get();
    const sink = open.service.owners[0]?.owner.sink;
    const update = (workload: string, uri: string) =>
      sink?.resourceUpdated(workload, Buffer.from(JSON.stringify({ uri })));
    update('other', 'test://a');
    update('w', 'test://b');
    update('w', 'test://a/part');
    update('w', 'test://a');
    expect((await stream.next())?.message).toMatchObject({ params: { uri: 'test://a/part' } });
    expect((await stream.next())?.message).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'test://a' },
    });
    expect((await session.request('resources/unsubscribe', { uri: 'test://a' })).json.result).toEqual({});
    expect(open.service.watched).toEqual([]);
    const denied = await session.request('resources/subscribe', { uri: 'denied:x' });
    expect([denied.status, denied.json.error?.code]).toEqual([403, 403]);
    expect((await session.request('resources/subscribe', { uri: 'missing:x' })).json.error?.code).toBe(-32602);
    const away = await session.request('resources/subscribe', { uri: 'broken:x' });
    expect([away.status, away.json.error?.message]).toEqual([200, 'backend w is unavailable (BACKEND_UNREACHABLE)']);
    await session.request('resources/subscribe', { uri: 'test://c' });
    await fetch(open.url, { method: 'DELETE', headers: session.headers });
    await until(() => open.service.watched.length === 0);
    await stream.close();
  });
});
