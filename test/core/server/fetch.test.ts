import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/json.ts';
import { text } from '../../support/fake-gateway.ts';
import { modernRequest, type OpenEndpoint, openEndpoint, readEvents, wholeReply } from '../../support/open-endpoint.ts';
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
    ['an allowed origin', '/mcp', { headers: { origin: 'http://localhost:1' } }],
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
});
