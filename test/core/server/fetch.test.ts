import type { JsonObject, RouteAnswer } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { FetchOptions } from '../../../core/server/http/fetch-adapter.ts';
import { text } from '../../support/fake-gateway.ts';
import {
  modernRequest,
  type OpenEndpoint,
  openEndpoint,
  readEvents,
  routesOf,
  wholeReply,
} from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

type Send = (open: OpenEndpoint, path: string, init: RequestInit) => Promise<Response>;

const ADAPTERS: Readonly<Record<string, Send>> = {
  node: (open, path, init) => fetch(`${open.origin}${path}`, init),
  fetch: (open, path, init) => open.endpoint.fetch(new Request(`http://127.0.0.1${path}`, init)),
};

function asked(
  method: string,
  params: JsonObject = {},
  more: { meta?: JsonObject; signal?: AbortSignal } = {},
): RequestInit {
  const { body, headers } = modernRequest(method, params, { meta: more.meta ?? {} });
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  return { method: 'POST', headers: all, body: JSON.stringify(body), signal: more.signal ?? null };
}

const INITIALIZE = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}',
};

describe('both adapters give the same responses', () => {
  const cases: readonly (readonly [string, string, RequestInit])[] = [
    ['a call', '/mcp', asked('tools/call', { name: 'echo', arguments: { a: 1 } })],
    ['a list', '/mcp', asked('tools/list')],
    ['a streamed call', '/mcp', asked('tools/call', { name: 'progress' }, { meta: { progressToken: 1 } })],
    ['an unknown method', '/mcp', asked('tools/guess')],
    ['an unknown path', '/nowhere', {}],
    ['a forbidden origin', '/mcp', { headers: { origin: 'http://evil.test' } }],
    ['an allowed origin', '/mcp', { headers: { origin: 'http://localhost:6274' } }],
    ['GET without session', '/mcp', { headers: { accept: 'text/event-stream' } }],
    ['no body', '/mcp', { method: 'POST', headers: { 'content-type': 'application/json' } }],
    [
      'a large body',
      '/mcp',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: 'x'.repeat(5000) },
    ],
  ];
  for (const [says, path, init] of cases) {
    it(`to ${says}`, async () => {
      await using open = await openEndpoint({ limits: { bodyBytes: 4096 } });
      const replies = await Promise.all(
        Object.values(ADAPTERS).map(async (send) => wholeReply(await send(open, path, init))),
      );
      const [node, web] = replies.map(({ status, headers, text: body }) => ({
        status,
        body,
        type: headers.get('content-type'),
        cache: headers.get('cache-control'),
        cors: headers.get('access-control-allow-origin'),
      }));
      expect(web).toEqual(node);
      await until(() => open.endpoint.counts().streams === 0);
    });
  }
});

describe('the fetch adapter', () => {
  it('serves a session with its GET stream', async () => {
    await using open = await openEndpoint();
    const opened = await open.endpoint.fetch(new Request('http://localhost/mcp', INITIALIZE));
    const id = opened.headers.get('mcp-session-id') ?? '';
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
    const stream = readEvents(await open.endpoint.fetch(new Request('http://localhost/mcp', { headers })));
    open.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
    expect((await stream.next())?.message.method).toBe('notifications/tools/list_changed');
    await stream.close();
    await until(() => open.endpoint.counts().streams === 0);
    const ended = await open.endpoint.fetch(
      new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } }),
    );
    expect([ended.status, open.endpoint.counts().sessions]).toEqual([200, 0]);
  });

  it('takes an aborted request and a cancelled body for a client that has gone', async () => {
    await using open = await openEndpoint();
    const aborted: unknown[] = [];
    open.service.tools.set('wait', ({ cancel: { signal }, client }) => {
      client.notify('notifications/progress', Buffer.from('{"progressToken":1,"progress":1}'));
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          resolve(text('late'));
        });
      });
    });
    const controller = new AbortController();
    const url = 'http://localhost/mcp';
    const pending = open.endpoint.fetch(
      new Request(url, asked('tools/call', { name: 'wait' }, { signal: controller.signal })),
    );
    await until(() => open.service.seen.length === 1);
    controller.abort();
    await until(() => aborted.length === 1);
    await pending;
    const streamed = asked('tools/call', { name: 'wait' }, { meta: { progressToken: 1 } });
    const events = readEvents(await open.endpoint.fetch(new Request(url, streamed)));
    await events.next();
    await events.close();
    await until(() => aborted.length === 2);
    await until(() => open.endpoint.counts().streams === 0);
  });

  proves(
    'ask.embedding.fetch-leaves',
    'answers 499 when the client has gone before the response, and stops reading its body',
    async () => {
      await using open = await openEndpoint();
      const gone = new AbortController();
      gone.abort();
      const early = await open.endpoint.fetch(new Request(URL_OF_MCP, { ...INITIALIZE, signal: gone.signal }));
      const leaving = new AbortController();
      const half = halfBody();
      const pending = open.endpoint.fetch(half.request({ signal: leaving.signal }));
      await until(() => half.asked() > 1);
      leaving.abort();
      const broken = halfBody();
      const failing = open.endpoint.fetch(broken.request());
      await until(() => broken.asked() > 1);
      broken.fail();
      expect([early.status, (await pending).status, (await failing).status]).toEqual([499, 499, 499]);
      await until(half.isCancelled);
    },
  );

  proves('ask.embedding.fetch-leaves', 'ends an event stream when the request is aborted', async () => {
    await using open = await openEndpoint();
    open.service.tools.set('wait', ({ client, cancel: { signal } }) => {
      client.notify('notifications/progress', Buffer.from('{"progressToken":1,"progress":1}'));
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(text('late'))));
    });
    const leaving = new AbortController();
    const init = asked('tools/call', { name: 'wait' }, { meta: { progressToken: 1 }, signal: leaving.signal });
    const reader = (await open.endpoint.fetch(new Request(URL_OF_MCP, init))).body?.getReader();
    await reader?.read();
    leaving.abort();
    expect(await reader?.read()).toEqual({ done: true, value: undefined });
    await until(() => open.endpoint.counts().streams === 0);
  });

  it('drops progress that a slow reader does not take, and keeps the result', async () => {
    await using open = await openEndpoint({ limits: { streamBufferBytes: 65_536 } });
    const big = 'x'.repeat(10_000);
    open.service.tools.set('busy', async ({ client }) => {
      for (let n = 1; n <= 200; n++) {
        client.notify('notifications/progress', Buffer.from(`{"progressToken":1,"progress":${n},"message":"${big}"}`));
      }
      return text('done');
    });
    const init = asked('tools/call', { name: 'busy' }, { meta: { progressToken: 1 } });
    const response = await open.endpoint.fetch(new Request(URL_OF_MCP, init));
    await until(() => open.endpoint.counts().streams === 0); // the call has ended, and nothing was read
    const all = await response.text();
    expect(all.length).toBeLessThan(400_000); // of 2 MB
    expect(all).toContain('"progress":200,');
    expect(all).toContain('done');
  });

  proves(
    'ask.embedding.fetch-address',
    'knows the address that the framework gives, and believes trusted proxies',
    async () => {
      const answer: RouteAnswer = ({ remoteAddress }, _body, to) => to.send(200, {}, String(remoteAddress));
      const routes = routesOf((table) => table.add('GET', '/who', answer));
      await using open = await openEndpoint({ routes, trustedProxies: ['10.0.0.0/8'] });
      const headers = { 'x-forwarded-for': '198.51.100.7' };
      const who = async (options?: FetchOptions) =>
        (await open.endpoint.fetch(new Request('http://localhost/who', { headers }), options)).text();
      expect(await Promise.all([who(), who({ address: '192.0.2.1' }), who({ address: '10.0.0.1' })])).toEqual([
        'undefined',
        '192.0.2.1',
        '198.51.100.7',
      ]);
      await expect(who({ address: 'unknown' })).rejects.toThrow('address must be an IP address, not "unknown"');
    },
  );

  it('takes a body that the framework has read, and the path that it removed', async () => {
    await using open = await openEndpoint({ limits: { bodyBytes: 4096 } });
    const request = () => new Request('http://localhost/', { ...INITIALIZE, body: '' });
    const given = await open.endpoint.fetch(request(), { body: JSON.parse(INITIALIZE.body), mountPath: '/mcp' });
    expect([given.status, await given.text()]).toEqual([200, expect.stringContaining('"protocolVersion"')]);
    const large = await open.endpoint.fetch(request(), { body: ' '.repeat(5000), mountPath: '/mcp' });
    expect(large.status).toBe(413);
    const locked = new Request(URL_OF_MCP, INITIALIZE);
    locked.body?.getReader();
    expect(await (await open.endpoint.fetch(locked)).text()).toContain('fetch(request, { body })');
  });

  it('states the length of whole responses, and sends no body for HEAD', async () => {
    const answer: RouteAnswer = (_inbound, _body, to) => to.send(200, { 'content-type': 'text/plain' }, 'größer');
    const routes = routesOf((table) => table.add('GET', '/page', answer));
    await using open = await openEndpoint({ routes });
    const sent = await Promise.all(
      ['GET', 'HEAD'].map((method) => open.endpoint.fetch(new Request('http://localhost/page', { method }))),
    );
    const seen = sent.map(async (response) => [response.headers.get('content-length'), await response.text()]);
    expect(await Promise.all(seen)).toEqual([
      ['8', 'größer'],
      ['8', ''],
    ]);
  });
});

const URL_OF_MCP = 'http://localhost/mcp';

/** A request whose body has begun and does not end. */
function halfBody() {
  let asked = 0;
  let isCancelled = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (made) => {
        controller = made;
      },
      pull: () => {
        if (asked++ === 0) controller?.enqueue(Buffer.from(INITIALIZE.body.slice(0, 20)));
      },
      cancel: () => {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    request: (more: RequestInit = {}) => new Request(URL_OF_MCP, { ...INITIALIZE, ...more, body, duplex: 'half' }),
    asked: () => asked,
    isCancelled: () => isCancelled,
    fail: () => controller?.error(new Error('reset')),
  };
}
