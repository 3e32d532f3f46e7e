import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { type Served, serveGateway } from '../../../../hosts/http/listen.ts';
import { createCallFeed, type RecentCall } from '../../../../hosts/http/recent-calls/feed.ts';
import { recentCallsPlugin } from '../../../../hosts/http/recent-calls/plugin.ts';
import { recentCallRoutes } from '../../../../hosts/http/recent-calls/routes.ts';
import { proves } from '../../../support/proves.ts';

const call = (name: string): Omit<RecentCall, 'seq'> => ({
  id: name,
  isInner: false,
  startedMs: 0,
  durationMs: 1,
  method: 'tools/call',
  name,
  backend: 'a',
  caller: 'anonymous',
  outcome: 'ok',
  resultBytes: 0,
});

describe('the feed of calls', () => {
  test('keeps the last ones, oldest first', () => {
    const feed = createCallFeed(3);
    for (const name of ['a', 'b', 'c', 'd', 'e']) feed.add(call(name));
    expect(feed.recent().map(({ seq, name }) => [seq, name])).toEqual([
      [3, 'c'],
      [4, 'd'],
      [5, 'e'],
    ]);
  });

  test('numbers calls of another feed itself, so that a reader gets each once', async () => {
    const other = createCallFeed(3);
    other.add(call('b'));
    const feed = createCallFeed(3);
    for (const one of [call('a'), ...other.recent()]) feed.add(one);
    expect(feed.recent().map(({ seq }) => seq)).toEqual([1, 2]);
    const stop = new AbortController();
    const batches = feed.follow(1, stop.signal);
    expect((await batches.next()).value?.map(({ name }: RecentCall) => name)).toEqual(['b']);
    const next = batches.next();
    feed.add(call('c'));
    expect((await next).value?.map(({ name }: RecentCall) => name)).toEqual(['c']);
    stop.abort();
  });

  test('a reader gets what it missed and then what comes, once, and ends with its signal', async () => {
    const feed = createCallFeed(3);
    for (const name of ['a', 'b']) feed.add(call(name));
    const stop = new AbortController();
    const names: string[] = [];
    const reading = (async () => {
      for await (const calls of feed.follow(1, stop.signal)) names.push(...calls.map(({ name }) => name));
    })();
    await expect.poll(() => names).toEqual(['b']);
    feed.add(call('c'));
    await expect.poll(() => names).toEqual(['b', 'c']);
    stop.abort();
    await reading;
  });

  test('a reader that names a call of an earlier process gets the next ones', async () => {
    const feed = createCallFeed(3);
    feed.add(call('a'));
    const stop = new AbortController();
    const next = feed.follow(1_000, stop.signal).next();
    feed.add(call('b'));
    expect((await next).value?.map(({ name }: RecentCall) => name)).toEqual(['b']);
    stop.abort();
  });
});

describe('the calls of a gateway', () => {
  let served: Served | undefined;
  afterEach(() => served?.close(0));

  test('are listed and streamed without arguments and results', async () => {
    const feed = createCallFeed();
    const echo = fakeServer().tool('echo', () => text('secret-result'));
    await using gateway = await testGateway({ backends: { one: echo }, plugins: [recentCallsPlugin(feed)] });
    served = await serveGateway(gateway.gateway, { host: '127.0.0.1', port: 0, routes: recentCallRoutes(feed) });
    const stop = new AbortController();
    const stream = await fetch(`${served.url}/api/calls/stream`, { signal: stop.signal });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const client = await gateway.client();
    await client.callTool('echo', { token: 'secret-argument' });
    let events = '';
    const decoder = new TextDecoder();
    for await (const bytes of stream.body ?? []) {
      events += decoder.decode(bytes);
      if (events.includes('event: calls')) break;
    }
    const data = JSON.parse(/^data: (.*)$/m.exec(events)?.[1] ?? '{}') as { calls: RecentCall[] };
    expect(data.calls).toEqual([
      expect.objectContaining({
        seq: 1,
        method: 'tools/call',
        name: 'echo',
        backend: 'one',
        outcome: 'ok',
        isInner: false,
      }),
    ]);
    expect(Math.abs((data.calls[0]?.startedMs ?? 0) - Date.now())).toBeLessThan(60_000);
    const list = await (await fetch(`${served.url}/api/calls`)).text();
    expect(JSON.parse(list)).toEqual(data);
    expect(list + events).not.toContain('secret-');
    stop.abort();
  });

  proves('ask.page.cancelled-call', 'that the client cancelled say so, and not that something failed', async () => {
    const feed = createCallFeed();
    const { promise: running, resolve: runs } = Promise.withResolvers<void>();
    const slow = fakeServer().tool('slow', async ({ signal }) => {
      runs();
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return text('late');
    });
    await using gateway = await testGateway({ backends: { one: slow }, plugins: [recentCallsPlugin(feed)] });
    const client = await gateway.client();
    const stop = new AbortController();
    const asked = client.request('tools/call', { name: 'slow', arguments: {} }, stop.signal).catch(() => undefined);
    await running;
    stop.abort();
    await asked;
    await expect.poll(() => feed.recent()).toHaveLength(1);
    expect(feed.recent()[0]).toMatchObject({
      outcome: 'cancelled',
      detail: 'the client cancelled the call or closed its connection',
    });
  });

  test.each([
    ['/api/calls/stream?after=1', {}],
    ['/api/calls/stream', { 'last-event-id': '1' }],
    ['/api/calls/stream?after=0', { 'last-event-id': '1' }],
  ])('are streamed from the call after the last known one on: %s %o', async (path, headers: Record<string, string>) => {
    const feed = createCallFeed();
    for (const name of ['a', 'b']) feed.add(call(name));
    const handle = (_: unknown, response: { end(): unknown }) => response.end();
    served = await serveGateway({ handle }, { host: '127.0.0.1', port: 0, routes: recentCallRoutes(feed) });
    const stop = new AbortController();
    const stream = await fetch(served.url + path, { headers, signal: stop.signal });
    let events = '';
    for await (const bytes of stream.body ?? []) {
      events += new TextDecoder().decode(bytes);
      if (events.includes('data:')) break;
    }
    stop.abort();
    expect(events).toContain('"name":"b"');
    expect(events).not.toContain('"name":"a"');
  });

  test('have a bound on open streams', async () => {
    const feed = createCallFeed();
    served = await serveGateway(
      { handle: (_, response) => response.end() },
      { host: '127.0.0.1', port: 0, routes: recentCallRoutes(feed) },
    );
    const stop = new AbortController();
    const open = () => fetch(`${served?.url}/api/calls/stream`, { signal: stop.signal });
    const first = await Promise.all(Array.from({ length: 32 }, open));
    expect(first.every(({ status }) => status === 200)).toBe(true);
    expect((await open()).status).toBe(429);
    stop.abort();
    await expect
      .poll(async () => (await fetch(`${served?.url}/api/calls/stream`, { method: 'HEAD' })).status)
      .toBe(200);
  });
});
