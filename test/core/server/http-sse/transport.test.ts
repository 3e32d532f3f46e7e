import type { RequestRecord } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { callerNamed, text } from '../../../support/fake-gateway.ts';
import { type OpenOptions, openEndpoint, post, rawRequest } from '../../../support/open-endpoint.ts';
import { connectSse, openSseSession, type SseClient } from '../../../support/sse-client.ts';
import { until } from '../../../support/until.ts';

const PATHS = { path: '/sse', messagesPath: '/messages' };
const open = (options: OpenOptions = {}) => openEndpoint({ sse: PATHS, ...options });
const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

describe('the transport HTTP+SSE', () => {
  it('says where to send messages, acknowledges each with 202 and answers on the stream', async () => {
    await using gateway = await open();
    using client = await connectSse(`${gateway.origin}/sse`);
    expect(client.endpoint).toMatch(/^\/messages\?session_id=[0-9a-f-]{36}$/);
    expect(client.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    const sent = await client.send({ id: 1, method: 'initialize', params: hello });
    expect([sent.status, sent.text]).toEqual([202, 'Accepted']);
    expect(await client.next(({ id }) => id === 1)).toMatchObject({
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'fake-gateway' } },
    });
    expect((await client.send({ method: 'notifications/initialized' })).status).toBe(202);
    const { result } = await client.request('tools/call', { name: 'echo', arguments: { ü: 'a\n\nb' } });
    expect(result).toEqual({ content: [], structuredContent: { ü: 'a\n\nb' } });
    expect(gateway.endpoint.counts()).toEqual({ sessions: 1, streams: 1 });
  });

  it('sends no event ids and no events without a message, whatever the revision', async () => {
    await using gateway = await open();
    using client = await openSseSession(`${gateway.origin}/sse`);
    await client.request('tools/call', { name: 'progress', _meta: { progressToken: 'p' } });
    gateway.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
    await client.next(({ method }) => method === 'notifications/tools/list_changed');
    expect(client.text()).not.toMatch(/^id:/m);
    const events = client.text().split('\n\n').slice(0, -1);
    expect(events.filter((each) => !/^event: (endpoint|message)\ndata: ./.test(each))).toEqual([]);
  });

  it('carries progress before the result, requests to the client, and cancellation', async () => {
    await using gateway = await open();
    using client = await openSseSession(`${gateway.origin}/sse`, {}, { elicitation: {} });
    await client.request('tools/call', { name: 'progress', _meta: { progressToken: 7 } }, 'p');
    const before = client.received().findIndex(({ id }) => id === 'p');
    expect(client.received().slice(before - 3, before)).toEqual(
      [1, 2, 3].map((progress) => ({
        ...{ jsonrpc: '2.0', method: 'notifications/progress' },
        params: { progressToken: 7, progress },
      })),
    );
    const asked = client.request('tools/call', { name: 'elicit' }, 'e');
    const question = await client.next(({ method }) => method === 'elicitation/create');
    await client.send({ id: question.id ?? '', result: { action: 'accept', content: { name: 'Ada' } } });
    expect(JSON.stringify((await asked).result)).toContain('Ada');
    let isCancelled = false;
    gateway.service.tools.set('wait', ({ cancel }) => {
      cancel.signal.addEventListener('abort', () => {
        isCancelled = true;
      });
      return new Promise(() => {});
    });
    await client.send({ id: 'w', method: 'tools/call', params: { name: 'wait' } });
    await client.send({ method: 'notifications/cancelled', params: { requestId: 'w' } });
    await until(() => isCancelled);
    await client.request('ping');
    expect(client.received().filter(({ id }) => id === 'w')).toEqual([]);
  });

  it('ends the session and its calls when the client closes the stream', async () => {
    await using gateway = await open();
    const client = await openSseSession(`${gateway.origin}/sse`);
    let isCancelled = false;
    gateway.service.tools.set('wait', ({ cancel }) => {
      cancel.signal.addEventListener('abort', () => {
        isCancelled = true;
      });
      return new Promise(() => {});
    });
    await client.send({ id: 'w', method: 'tools/call', params: { name: 'wait' } });
    client.close();
    await until(() => isCancelled && gateway.ended.length === 1);
    expect(gateway.endpoint.counts()).toEqual({ sessions: 0, streams: 0 });
    expect((await client.send({ id: 2, method: 'ping' })).status).toBe(404);
  });

  it('refuses what is no message of a session', async () => {
    await using gateway = await open();
    const { origin } = gateway;
    using client = await connectSse(`${origin}/sse`);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(`${origin}/messages`, ping)).status).toBe(400);
    expect((await post(`${origin}/messages?session_id=`, ping)).status).toBe(400);
    expect(await post(`${origin}/messages?session_id=nope`, ping)).toMatchObject({
      status: 404,
      json: { error: { code: -32001 } },
    });
    expect((await post(client.messages, '{')).json.error?.code).toBe(-32700);
    expect((await post(client.messages, [ping])).json.error?.code).toBe(-32600);
    expect((await post(client.messages, ping, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(client.messages, 'x'.repeat(9_000_000))).status).toBe(413);
    const json = { host: 'localhost', 'content-type': 'application/json' };
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
      const { status, headers } = await rawRequest(`${origin}/messages`, method, json);
      expect([status, headers.allow], method).toEqual([405, 'POST']);
    }
    expect((await rawRequest(`${origin}/sse`, 'POST', { host: 'localhost' })).headers.allow).toBe('GET');
    expect((await rawRequest(`${origin}/sse/`, 'GET', { host: 'localhost' })).status).toBe(404);
  });

  it('wants initialize first and once', async () => {
    await using gateway = await open();
    using client = await connectSse(`${gateway.origin}/sse`);
    expect((await client.request('tools/list')).error?.message).toContain('send initialize first');
    await client.send({ method: 'notifications/initialized' });
    expect((await client.request('initialize', { capabilities: {} }, 'wrong')).error?.code).toBe(-32602);
    const hello = { protocolVersion: '2025-06-18', capabilities: {} };
    const both = await Promise.all([1, 2].map((id) => client.request('initialize', hello, id)));
    expect(both.map(({ error }) => error?.message)).toEqual([undefined, 'this session was initialized already']);
    expect((await client.request('initialize', hello, 3)).error?.code).toBe(-32600);
    expect(gateway.endpoint.counts().sessions).toBe(1);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('answers a request that fails inside, although its POST is answered', async () => {
    await using gateway = await open();
    using client = await connectSse(`${gateway.origin}/sse`);
    gateway.service.describeServer = () => {
      throw new Error('a plugin failed');
    };
    const { error } = await client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} }, 1);
    expect(error).toEqual({ code: -32603, message: 'internal error' });
    expect(gateway.logged).toContainEqual(expect.objectContaining({ message: 'a request failed' }));
  });

  it('gives each client only its own messages', async () => {
    await using gateway = await open();
    using one = await openSseSession(`${gateway.origin}/sse`);
    using two = await openSseSession(`${gateway.origin}/sse`);
    await Promise.all([
      one.request('tools/call', { name: 'echo', arguments: { of: 'one' } }, 5),
      two.request('tools/call', { name: 'echo', arguments: { of: 'two' } }, 5),
    ]);
    expect(one.text()).not.toContain('two');
    expect(two.text()).not.toContain('one');
    const own = gateway.service.seen.map(({ client }) => client.owner.key);
    expect(new Set(own).size).toBe(2);
  });

  it('ends a session whose URL another caller uses', async () => {
    await using gateway = await open();
    using client = await openSseSession(`${gateway.origin}/sse`, bearer('ada'));
    const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };
    expect((await post(client.messages, ping)).status).toBe(404);
    await until(() => client.hasEnded());
    expect(gateway.ended).toMatchObject([{ reason: 'stolen' }]);
    expect((await post(client.messages, ping, bearer('ada'))).status).toBe(404);
    using fresh = await connectSse(`${gateway.origin}/sse`, bearer('ada'));
    expect((await post(fresh.messages, ping, bearer('eve'))).status).toBe(404);
    await until(() => fresh.hasEnded());
  });

  it('authenticates both requests, and checks Host and Origin of both', async () => {
    await using gateway = await open({ allowedOrigins: ['https://app.example.com'] });
    gateway.service.identifyBy = ({ headers }) =>
      headers.authorization === 'Bearer ada' ? callerNamed('ada') : undefined;
    await expect(connectSse(`${gateway.origin}/sse`)).rejects.toThrow('status 401');
    using client = await openSseSession(`${gateway.origin}/sse`, {
      ...bearer('ada'),
      origin: 'https://app.example.com',
    });
    expect(client.headers['access-control-allow-origin']).toBe('https://app.example.com');
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(client.messages, ping)).status).toBe(401);
    expect((await post(client.messages, ping, { ...bearer('ada'), origin: 'https://evil.test' })).status).toBe(403);
    for (const path of ['/sse', client.endpoint]) {
      const { status } = await rawRequest(`${gateway.origin}${path}`, 'GET', { host: 'evil.test' });
      expect(status, path).toBe(403);
    }
  });

  it('keeps an idle stream alive, and ends one that is never initialized', async () => {
    await using gateway = await open({ limits: { keepAliveMs: 100, sessionIdleMs: 400 } });
    using idle = await connectSse(`${gateway.origin}/sse`);
    using client = await openSseSession(`${gateway.origin}/sse`);
    await until(() => idle.hasEnded());
    expect(idle.text()).toContain(': keep-alive');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await client.request('ping')).toMatchObject({ result: {} });
    expect(client.text()).toContain(': keep-alive');
  });

  it('limits connections without a session for each caller', async () => {
    await using gateway = await open({ limits: { sessionsPerCaller: 2 } });
    const clients: SseClient[] = [];
    for (let n = 0; n < 3; n++) clients.push(await connectSse(`${gateway.origin}/sse`));
    await until(() => clients[0]?.hasEnded() === true);
    expect(clients.map((client) => client.hasEnded())).toEqual([true, false, false]);
    for (const client of clients) client.close();
  });

  it('refuses more requests than may run, and still takes responses', async () => {
    await using gateway = await open({ limits: { inFlightPerCaller: 1, queuePerCaller: 1 } });
    using client = await openSseSession(`${gateway.origin}/sse`, {}, { elicitation: {} });
    for (const id of [1, 2]) await client.send({ id, method: 'tools/call', params: { name: 'elicit' } });
    const refused = await client.send({ id: 3, method: 'ping' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await until(() => client.received().filter(({ method }) => method === 'elicitation/create').length === 2);
    for (const { id, method } of client.received())
      if (method !== undefined) await client.send({ id: id ?? 0, result: { action: 'decline' } });
    await client.next(({ id }) => id === 2);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('ends a client that does not read, within a bound of unsent bytes', async () => {
    await using gateway = await open({ limits: { resultBytes: 1_000_000 } });
    gateway.service.tools.set('big', () => text('x'.repeat(800_000)));
    using client = await openSseSession(`${gateway.origin}/sse`);
    client.pause();
    for (let n = 0; n < 40; n++) {
      const { status } = await client.send({ id: n, method: 'tools/call', params: { name: 'big' } });
      if (status === 404) break;
    }
    await until(() => gateway.ended.length === 1);
    expect(gateway.endpoint.counts()).toEqual({ sessions: 0, streams: 0 });
    await until(() => gateway.logged.some(({ message }) => message.includes('read too slowly')));
  });

  it('answers running calls before it stops', async () => {
    const gateway = await open();
    let finish = (): void => {};
    gateway.service.tools.set('wait', async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return text('done');
    });
    using client = await openSseSession(`${gateway.origin}/sse`);
    using unused = await connectSse(`${gateway.origin}/sse`);
    const call = client.request('tools/call', { name: 'wait' });
    await until(() => gateway.service.seen.length === 1);
    const stopped = gateway.endpoint.stop();
    await until(() => unused.hasEnded());
    expect(client.hasEnded()).toBe(false);
    finish();
    expect(await call).toMatchObject({ result: { content: [{ text: 'done' }] } });
    await stopped;
    await until(() => client.hasEnded());
    await gateway[Symbol.asyncDispose]();
  });

  it('is recorded with the answer of each message, not with its 202', async () => {
    const settled: RequestRecord[] = [];
    await using gateway = await open({
      requests: { now: () => 0, streamOpened: () => {}, settled: (record) => void settled.push(record) },
    });
    using client = await openSseSession(`${gateway.origin}/sse`);
    await client.request('tools/call', { name: 'denied' });
    await client.request('tools/call', { name: 'progress', _meta: { progressToken: 1 } }, 'p');
    const calls = settled.filter(({ message }) => message !== undefined && 'method' in message);
    expect(calls.map(({ status, session }) => [status, session === undefined])).toEqual([
      ...[[200, false]],
      ...[[202, false]],
      ...[[403, false]],
      ...[[200, false]],
    ]);
    expect(calls.every(({ era }) => era === '2025-11-25')).toBe(true);
    expect(calls[2]?.error?.message).toContain('denied');
    expect(calls[3]?.responseBytes).toBeGreaterThan(200);
    client.close();
    await until(() => settled.some(({ inbound, isStream }) => inbound.path === '/sse' && isStream));
    expect(JSON.stringify(settled.map(({ inbound }) => inbound.path))).not.toContain('session_id');
  });

  it('is not served unless it is configured', async () => {
    await using gateway = await openEndpoint();
    await expect(connectSse(`${gateway.origin}/sse`)).rejects.toThrow('status 404');
    expect((await post(`${gateway.origin}/messages?session_id=x`, {})).status).toBe(404);
    await using modern = await open();
    modern.service.eras = ['2026-07-28'];
    await expect(connectSse(`${modern.origin}/sse`)).rejects.toThrow('status 405');
  });
});
