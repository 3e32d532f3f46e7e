import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../core/pipeline/mcp-request.ts';
import { bytes, text } from '../../support/fake-gateway.ts';
import {
  modernRequest,
  type OpenOptions,
  openEndpoint,
  openSession,
  post,
  postModern,
  postStream,
  readEvents,
} from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'fake-gateway', version: '1.0.0' } };
const withTool = async (tool: Answer, options: OpenOptions = {}) => {
  const open = await openEndpoint(options);
  open.service.tools.set('t', () => tool);
  return open;
};

describe('server/discover', () => {
  proves(
    ['ask.modern.discover', 'choice.modern.discover', 'choice.modern.discover-versions'],
    'says what the gateway is and speaks',
    async () => {
      await using open = await openEndpoint();
      const { json } = await postModern(open.url, 'server/discover');
      expect(json.result).toMatchObject({
        supportedVersions: ['2026-07-28', '2025-11-25'],
        capabilities: { tools: { listChanged: true } },
        instructions: 'Be kind.',
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: SERVER_INFO,
      });
      expect(json.result).not.toHaveProperty('serverInfo');
      open.service.eras = ['2026-07-28'];
      await using modernOnly = await openEndpoint({ service: open.service });
      const only = await postModern(modernOnly.url, 'server/discover');
      expect(only.json.result?.supportedVersions).toEqual(['2026-07-28']);
    },
  );

  it('is answered like an older server does when the stateless revision is off', async () => {
    await using open = await openEndpoint();
    open.service.eras = ['2025-11-25'];
    const probe = await postModern(open.url, 'server/discover');
    expect([probe.status, probe.json.error?.code]).toEqual([400, -32000]);
    const call = await postModern(open.url, 'tools/list');
    expect([call.status, call.json.error?.code]).toEqual([400, -32022]);
    expect(call.json.error?.data).toEqual({ supported: ['2025-11-25'], requested: '2026-07-28' });
  });
});

describe('a modern result', () => {
  proves(
    ['choice.modern.result-type', 'choice.modern.server-info', 'choice.modern.no-store', 'choice.modern.no-session'],
    'has resultType and the gateway as server, and may not be cached',
    async () => {
      await using open = await withTool(text('hi'));
      const reply = await postModern(open.url, 'tools/call', { name: 't' });
      expect(reply.json.result).toEqual({
        content: [{ type: 'text', text: 'hi' }],
        resultType: 'complete',
        _meta: SERVER_INFO,
      });
      expect(reply.headers.get('cache-control')).toBe('private, no-store');
      expect(reply.headers.get('mcp-session-id')).toBe(null);
      expect(open.endpoint.counts().sessions).toBe(0);
    },
  );

  proves(
    'choice.fidelity.reserved-meta-result',
    'loses the reserved _meta of a backend and keeps the rest',
    async () => {
      const forged =
        '{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"forged"},"a.mcp/x":1,"vendor.test/k":2,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}';
      await using open = await withTool(bytes(forged));
      const reply = await postModern(open.url, 'tools/call', { name: 't' });
      expect(reply.json.result?._meta).toEqual({
        ...SERVER_INFO,
        'vendor.test/k': 2,
        'io.modelcontextprotocol/related-task': { taskId: 't' },
      });
    },
  );

  it('keeps every byte of what it does not know', async () => {
    const inner = '"content":[{"type":"hologram","x":1.0,"n":123456789012345678901234567890}],"zzz":{"b":1,"a":2}';
    await using open = await withTool(bytes(`{${inner}}`));
    const reply = await postModern(open.url, 'tools/call', { name: 't' });
    for (const member of inner.split(/,(?="zzz")/)) expect(reply.text).toContain(member);
  });

  it('keeps the arguments of a call byte for byte on their way in', async () => {
    await using open = await openEndpoint();
    const { body, headers } = modernRequest('tools/call', { name: 'echo' });
    const raw = '{ "n": 123456789012345678901234567890, "f": 1.0, "u": "\\u00e9" }';
    const sent = JSON.stringify(body).replace('"name":"echo"', `"name":"echo","arguments":${raw}`);
    expect((await post(open.url, sent, headers)).text).toContain(`"structuredContent":${raw}`);
  });

  proves(
    ['ask.modern.cache-hints', 'choice.modern.cache-hints', 'choice.modern.cache-default-private'],
    'of a cacheable method carries hints, private whatever a backend says',
    async () => {
      await using open = await openEndpoint();
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
        const { json } = await postModern(open.url, method);
        expect(json.result, method).toMatchObject({ ttlMs: 0, cacheScope: 'private', resultType: 'complete' });
      }
      const read = await postModern(open.url, 'resources/read', { uri: 'test://a' });
      expect(read.json.result).toMatchObject({ ttlMs: 5000, cacheScope: 'private' });
      expect(read.text.match(/cacheScope/g)).toHaveLength(1);
      const call = await postModern(open.url, 'tools/call', { name: 'echo', arguments: {} });
      expect(call.json.result).not.toHaveProperty('ttlMs');
    },
  );

  proves('choice.modern.cache-retry', 'of a retry is stale at once, and a question has no hints', async () => {
    await using open = await openEndpoint();
    const params = { uri: 'test://a', requestState: 's', inputResponses: {} };
    expect((await postModern(open.url, 'resources/read', params)).json.result).toMatchObject({ ttlMs: 0 });
    open.service.answer = async () => bytes('{"resultType":"input_required","requestState":"s"}');
    const asked = await postModern(open.url, 'resources/read', { uri: 'test://a' });
    expect(asked.json.result).toEqual({ resultType: 'input_required', requestState: 's', _meta: SERVER_INFO });
  });

  proves('choice.bridge.modern-to-legacy-content', 'of a tool always has content', async () => {
    await using open = await withTool(bytes('{"structuredContent":{"a":1}}'));
    const reply = await postModern(open.url, 'tools/call', { name: 't' });
    expect(reply.json.result).toMatchObject({ content: [], structuredContent: { a: 1 } });
  });

  proves('choice.fidelity.unknown-result-type', 'of an unknown kind passes only to who has extensions', async () => {
    await using open = await withTool(bytes('{"resultType":"task","taskId":"1"}'));
    const refused = await postModern(open.url, 'tools/call', { name: 't' });
    expect([refused.status, refused.json.error?.code]).toEqual([200, -32603]);
    const capabilities = { extensions: { 'com.example/later': {} } };
    const passed = await postModern(open.url, 'tools/call', { name: 't' }, { capabilities });
    expect(passed.json.result).toMatchObject({ resultType: 'task', taskId: '1' });
  });

  it('of many megabytes arrives whole', async () => {
    const blob = 'x'.repeat(20_000_000);
    await using open = await withTool(bytes(`{"content":[{"type":"text","text":"${blob}"}]}`));
    const reply = await postModern(open.url, 'tools/call', { name: 't' });
    expect(reply.text.length).toBeGreaterThan(20_000_000);
    expect(reply.text.includes(blob)).toBe(true);
  });
});

describe('a modern refusal', () => {
  it('of a limited call is an answer with the seconds to wait', async () => {
    await using open = await openEndpoint();
    const reply = await postModern(open.url, 'tools/call', { name: 'limited' });
    expect(reply.status).toBe(200);
    expect(reply.json.error).toEqual({ code: 429, message: 'rate limit exceeded', data: { retryAfterSeconds: 2 } });
  });

  proves('choice.error.no-internals', 'says nothing of what broke inside', async () => {
    await using open = await openEndpoint();
    const reply = await postModern(open.url, 'tools/call', { name: 'boom' }, { id: 99 });
    expect([reply.status, reply.json]).toEqual([
      500,
      { jsonrpc: '2.0', id: 99, error: { code: -32603, message: 'internal error' } },
    ]);
    expect(reply.text).not.toContain('abc');
  });
});

describe('a modern answer', () => {
  proves(
    ['choice.wire.stream-upgrade', 'choice.http.sse-headers', 'choice.capability.progress'],
    'becomes an event stream when something is told before it',
    async () => {
      await using open = await openEndpoint();
      const plain = await postModern(open.url, 'tools/call', { name: 'progress' });
      expect(plain.headers.get('content-type')).toBe('application/json');
      const { body, headers } = modernRequest('tools/call', { name: 'progress' }, { meta: { progressToken: 'p1' } });
      const events = readEvents(await postStream(open.url, body, headers));
      expect(events.response.headers.get('content-type')).toBe('text/event-stream');
      expect(events.response.headers.get('x-accel-buffering')).toBe('no');
      expect(events.response.headers.get('cache-control')).toBe('no-cache, no-transform');
      const all = await events.rest();
      expect(all.map(({ message }) => message.params?.progress ?? message.id)).toEqual([1, 2, 3, 7]);
      expect(all.every(({ id }) => id === undefined)).toBe(true);
      expect(all.at(-1)?.message.result).toMatchObject({ resultType: 'complete' });
      await until(() => open.endpoint.counts().streams === 0);
    },
  );

  it('stays JSON, and tells nothing, for a client that reads JSON only', async () => {
    await using open = await openEndpoint();
    const options = { meta: { progressToken: 1 }, headers: { accept: 'application/json' } };
    const reply = await postModern(open.url, 'tools/call', { name: 'progress' }, options);
    expect(reply.json.result).toMatchObject({ content: [{ text: 'done' }] });
  });

  proves('choice.modern.log-level', 'has log messages only of the level asked for', async () => {
    await using open = await openEndpoint();
    open.service.tools.set('log', ({ client }) => {
      for (const level of ['debug', 'warning', 'error']) {
        client.notify('notifications/message', Buffer.from(`{"level":"${level}","data":1}`));
      }
      return text('done');
    });
    const silent = await postModern(open.url, 'tools/call', { name: 'log' });
    expect(silent.headers.get('content-type')).toBe('application/json');
    const meta = { 'io.modelcontextprotocol/logLevel': 'warning' };
    const { body, headers } = modernRequest('tools/call', { name: 'log' }, { meta });
    const all = await readEvents(await postStream(open.url, body, headers)).rest();
    expect(all.map(({ message }) => message.params?.level ?? 'result')).toEqual(['warning', 'error', 'result']);
  });

  it('with line breaks in it is framed as several data lines', async () => {
    await using open = await openEndpoint();
    open.service.tools.set('pretty', ({ client }) => {
      client.notify('notifications/progress', Buffer.from('{"progressToken":1,\r\n"progress":1}'));
      return bytes('{\n  "content": [\r\n],\r  "a": "b"\n}');
    });
    const { body, headers } = modernRequest('tools/call', { name: 'pretty' }, { meta: { progressToken: 1 } });
    const all = await readEvents(await postStream(open.url, body, headers)).rest();
    expect(all.map(({ message }) => message.params?.progress ?? message.result?.a)).toEqual([1, 'b']);
  });

  proves('choice.http.keep-alive', 'that takes long becomes a stream with keep-alive comments', async () => {
    await using open = await openEndpoint({ limits: { keepAliveMs: 100 } });
    let finish = (): void => {};
    open.service.tools.set(
      'slow',
      () =>
        new Promise((resolve) => {
          finish = () => resolve(text('at last'));
        }),
    );
    const { body, headers } = modernRequest('tools/call', { name: 'slow' });
    const events = readEvents(await postStream(open.url, body, headers));
    expect((await events.nextRaw())?.comment).toBe('keep-alive');
    expect((await events.nextRaw())?.comment).toBe('keep-alive');
    finish();
    expect(JSON.stringify((await events.next())?.message)).toContain('at last');
    expect(await events.next()).toBe(undefined);
  });

  proves('choice.wire.disconnect-cancels', 'whose client has disconnected is cancelled', async () => {
    await using open = await openEndpoint();
    const aborted: string[] = [];
    open.service.tools.set('wait', ({ cancel: { signal }, client }) => {
      client.notify('notifications/progress', Buffer.from('{"progressToken":1,"progress":1}'));
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push('call');
          resolve(text('too late'));
        });
      });
    });
    for (const meta of [{}, { progressToken: 1 }]) {
      const gone = new AbortController();
      const { body, headers } = modernRequest('tools/call', { name: 'wait' }, { meta });
      const pending = postStream(open.url, body, headers, gone.signal).catch(() => undefined);
      await until(() => open.service.seen.length > aborted.length);
      if ('progressToken' in meta) await readEvents((await pending) as Response).next();
      const before = aborted.length;
      gone.abort();
      await until(() => aborted.length === before + 1);
    }
    await until(() => open.endpoint.counts().streams === 0);
  });

  it('can be cancelled in both eras', async () => {
    await using open = await openEndpoint();
    await postModern(open.url, 'tools/list');
    await (await openSession(open.url)).request('tools/list');
    expect(open.service.seen.map(({ cancel }) => cancel.signal instanceof AbortSignal)).toEqual([true, true]);
  });

  it('has what the client said of itself, and its own owner per caller and capabilities', async () => {
    await using open = await openEndpoint();
    const ask = (capabilities: JsonObject, name: string) =>
      postModern(open.url, 'tools/list', {}, { capabilities, headers: { authorization: `Bearer ${name}` } });
    await ask({ elicitation: {}, experimental: { x: {} } }, 'ada');
    await ask({ elicitation: {} }, 'ada');
    await ask({ elicitation: { url: {} } }, 'ada');
    await ask({ elicitation: {} }, 'bob');
    const owners = open.service.seen.map(({ client }) => client.owner);
    expect(owners[0]).toMatchObject({ capabilities: { elicitation: {} }, capabilityClass: 'elicitation' });
    expect(owners[0]?.key).toBe(owners[1]?.key);
    expect(new Set(owners.map(({ key }) => key)).size).toBe(3);
    expect(open.service.seen[0]?.client.clientInfo).toEqual({ name: 'test', version: '1' });
  });
});

describe('Mcp-Param headers', () => {
  const mirrored = [
    { header: 'Region', path: ['region'], type: 'string' },
    { header: 'Depth', path: ['opts', 'depth'], type: 'integer' },
    { header: 'Dry', path: ['dry'], type: 'boolean' },
    { header: 'Kind', path: ['constructor', 'name'], type: 'string' },
  ] as const;
  const cases: readonly (readonly [string, object, Record<string, string>, boolean])[] = [
    ['nothing given', {}, {}, true],
    ['null given', { region: null }, {}, true],
    ['equal', { region: 'eu', dry: false }, { region: 'eu', dry: 'false' }, true],
    ['equal when decoded', { region: 'Zürich' }, { region: '=?base64?WsO8cmljaA==?=' }, true],
    ['equal as numbers', { opts: { depth: 42 } }, { depth: '42.0' }, true],
    ['undeclared header', {}, { other: 'x' }, true],
    ['missing header', { region: 'eu' }, {}, false],
    ['different', { region: 'eu' }, { region: 'us' }, false],
    ['header without argument', {}, { region: 'eu' }, false],
    ['different number', { opts: { depth: 42 } }, { depth: '43' }, false],
    ['number in words', { opts: { depth: 0 } }, { depth: '' }, false],
    ['boolean in capitals', { dry: true }, { dry: 'True' }, false],
    ['bad base64', { region: 'a' }, { region: '=?base64?%%?=' }, false],
    ['a property that is only inherited', {}, { kind: 'Object' }, false],
  ];
  for (const [says, args, given, passes] of cases) {
    proves(
      ['choice.wire.param-header-mismatch', 'choice.encoding.param-integers'],
      `${passes ? 'pass' : 'are refused'} with ${says}`,
      async () => {
        await using open = await openEndpoint();
        open.service.mirroredParams.set('echo', mirrored);
        const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [`Mcp-Param-${name}`, value]));
        const reply = await postModern(open.url, 'tools/call', { name: 'echo', arguments: { ...args } }, { headers });
        expect([reply.status, reply.json.error?.code]).toEqual(passes ? [200, undefined] : [400, -32020]);
      },
    );
  }

  proves('choice.encoding.header-bounds', 'are bounded in number', async () => {
    await using open = await openEndpoint({ limits: { mirroredHeaders: 2 } });
    const headers = { 'mcp-param-a': '1', 'mcp-param-b': '2', 'mcp-param-c': '3' };
    const reply = await postModern(open.url, 'tools/call', { name: 'echo', arguments: {} }, { headers });
    expect([reply.status, reply.json.error?.code]).toEqual([400, -32020]);
  });
});
