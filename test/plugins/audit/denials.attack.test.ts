import { connect } from 'node:net';
import { definePlugin, type Plugin } from '@toolmgr/core';
import { fakeServer, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AuditLine, audited } from '../../support/audited.ts';
import { openSession, post, postModern, rawRequest } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';

/** Knows one token, denies the tool `forbidden`, and limits the tool `limited`. */
const policy: Plugin = definePlugin({
  address: 'test/policy',
  config: z.strictObject({}),
  apply({ hooks }) {
    hooks.authenticate.tap('test/policy', ({ headers: { authorization } }) => {
      if (authorization === undefined) return undefined;
      if (authorization !== 'Bearer good-token') return { refused: true, status: 401, reason: 'unknown token' };
      return { issuer: 'i', subject: 'ada', key: 'i\0ada', claims: { email: 'ada@example.com' } };
    });
    hooks.authorize.tap('test/policy', ({ name }) =>
      name === 'forbidden' || name === 'file:///secret'
        ? { refused: true, status: 403, reason: 'call denied by authorization policy' }
        : undefined,
    );
    hooks.limit.tap('test/policy', ({ name }) =>
      name === 'limited'
        ? { refused: true, status: 429, reason: 'rate limit exceeded', retryAfterMs: 1000 }
        : undefined,
    );
  },
});

const GOOD = { authorization: 'Bearer good-token' };
const backends = () => ({
  far: fakeServer()
    .tool('open', () => text('ok'))
    .tool('forbidden')
    .tool('limited')
    .resource('file:///secret', 'x'),
});

/** The members of a line that tests compare. */
function short({ type, outcome, subjects, target, metadata: { extra } }: AuditLine) {
  const said = extra.refusal ?? extra.jsonrpc_error_message;
  return [type, outcome, subjects.user, target.method, target.name, extra.http_status, said];
}

describe('a refused request', () => {
  proves('choice.audit.denials', 'is recorded with its outcome and caller', async () => {
    await using here = await audited(backends(), { plugins: [policy] });
    const json = { 'content-type': 'application/json' };
    await rawRequest(here.url, 'POST', { ...json, host: 'evil.example' }, '{}');
    await post(here.url, {}, { origin: 'https://evil.example' });
    await post(here.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await post(here.url, {}, { authorization: 'Bearer forged-token' });
    await fetch(here.url, { headers: { accept: 'text/event-stream' } });
    await fetch(new URL('/.env', here.url));
    await post(here.url, 'torn', GOOD);
    const modern = { headers: GOOD };
    await postModern(here.url, 'tools/call', { name: 'missing' }, modern);
    await postModern(here.url, 'tools/call', { name: 'forbidden' }, modern);
    await postModern(here.url, 'tools/call', { name: 'limited' }, modern);
    await postModern(here.url, 'no/such/method', {}, modern);
    const session = await openSession(here.url, { headers: GOOD });
    await session.request('tools/call', { name: 'missing' });
    await session.request('tools/call', { name: 'forbidden' });
    await session.request('tools/call', { name: 'limited' });
    await session.request('resources/subscribe', { uri: 'file:///secret' });
    await post(here.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { ...GOOD, 'mcp-session-id': 'stolen' });
    await here.kit.gateway.stop();
    const lines = await here.lines();
    const ada = 'ada@example.com';
    // each era sends the same three calls
    const calls = [
      [
        'mcp_tool_call',
        'application_error',
        ada,
        'tools/call',
        'missing',
        200,
        expect.stringContaining('unknown tool'),
      ],
      ['mcp_tool_call', 'denied', ada, 'tools/call', 'forbidden', undefined, 'call denied by authorization policy'],
      ['mcp_tool_call', 'failure', ada, 'tools/call', 'limited', undefined, 'rate limit exceeded'],
    ];
    expect(lines.map(short)).toEqual([
      ['http_request', 'denied', 'anonymous', 'POST', undefined, 403, 'this Host is not served here'],
      [
        'http_request',
        'denied',
        'anonymous',
        'POST',
        undefined,
        403,
        'this Origin is not allowed: add it to endpoint.allowedOrigins',
      ],
      ['mcp_request', 'denied', 'anonymous', 'POST', undefined, 401, 'authentication is required'],
      ['mcp_request', 'denied', 'anonymous', 'POST', undefined, 401, 'unknown token'],
      ['mcp_request', 'denied', 'anonymous', 'GET', undefined, 401, 'authentication is required'],
      ['http_request', 'failure', 'anonymous', 'GET', undefined, 404, undefined],
      ['mcp_request', 'failure', ada, 'POST', undefined, 400, 'the body is not JSON'],
      ...calls,
      ['mcp_request', 'failure', ada, 'no/such/method', undefined, 404, expect.any(String)],
      ['mcp_initialize', 'success', ada, 'initialize', undefined, 200, undefined],
      ['mcp_notification', 'success', ada, 'notifications/initialized', undefined, 202, undefined],
      ...calls,
      ['mcp_request', 'denied', ada, 'resources/subscribe', 'file:///secret', 403, expect.any(String)],
      ['mcp_ping', 'failure', ada, 'ping', undefined, 404, expect.stringContaining('session is unknown')],
    ]);
    expect(await here.text()).not.toMatch(/good-token|forged-token|stolen/);
  });

  proves('choice.audit.type-not-chosen', 'cannot choose an excluded type with a header', async () => {
    const config = { excludeEventTypes: ['mcp_ping', 'sse_connection'] };
    await using here = await audited(backends(), { plugins: [policy], config });
    await postModern(here.url, 'ping');
    await fetch(here.url, { headers: { accept: 'text/event-stream' } });
    const denied = { type: 'mcp_request', outcome: 'denied' };
    expect(await here.lines(2)).toMatchObject([denied, denied]);
  });

  proves(
    'choice.audit.client-address',
    'is recorded with the address of its socket, not with one from its headers',
    async () => {
      await using here = await audited(backends(), { plugins: [policy] });
      const headers = { ...GOOD, 'x-forwarded-for': '203.0.113.9, 10.0.0.1', 'x-real-ip': '203.0.113.9' };
      await postModern(here.url, 'tools/call', { name: 'open' }, { headers });
      await post(here.url, {}, { 'x-forwarded-for': '203.0.113.9' });
      for (const { source } of await here.lines(2)) {
        expect(source.value).toBe('127.0.0.1');
        expect(source.extra.forwarded_for).toMatch(/^203\.0\.113\.9/);
      }
    },
  );

  it('is one line for any client names', async () => {
    await using here = await audited(backends(), { plugins: [policy] });
    const name = 'x"}\n{"type":"forged","outcome":"success"}\u2028\r';
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: ['x'] } };
    const opened = await post(here.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }, GOOD);
    const inSession = { ...GOOD, 'mcp-session-id': String(opened.headers.get('mcp-session-id')) };
    const params = { name: 'y'.repeat(500_000) };
    await post(here.url, { jsonrpc: '2.0', id: 'z'.repeat(600), method: 'tools/call', params }, inSession);
    const lines = await here.lines(2);
    expect(lines).toHaveLength(2);
    expect(lines[0]?.subjects.client_name).toBe(name);
    expect((await here.text()).length).toBeLessThan(5_000);
  });

  it('is recorded when the client disconnects during a call or its body', async () => {
    let begun: () => void = () => {};
    const waiting = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hangs = fakeServer().tool('hangs', ({ signal }) => {
      begun();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    });
    await using here = await audited({ far: hangs });
    const leaving = new AbortController();
    const client = await here.kit.client();
    const call = client.request('tools/call', { name: 'hangs', arguments: {} }, leaving.signal).catch(() => {});
    await waiting;
    leaving.abort();
    await call;
    expect(await here.lines()).toMatchObject([{ type: 'mcp_tool_call', outcome: 'failure' }]);
    const socket = connect(Number(new URL(here.url).port), '127.0.0.1');
    socket.write(
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroySoon();
    expect((await here.lines(2))[1]).toMatchObject({
      type: 'mcp_request',
      outcome: 'failure',
      source: { value: '127.0.0.1' },
      metadata: { extra: { client_gone: true } },
    });
  });
});
