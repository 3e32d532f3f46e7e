import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { aborted, dualServer } from './fixtures/dual-server.ts';
import {
  answer,
  callOf,
  event,
  fixture,
  httpBackend,
  httpServer,
  legacyAnswers,
  managerWith,
  modernAnswers,
  openStream,
  refuse,
  send,
  stdioBackend,
  testOwner,
  textOf,
} from './support.ts';

/** The SDK's own dual-era server over HTTP. */
async function dualHttp() {
  const handler = createMcpHandler(dualServer);
  const node = toNodeHandler(handler);
  const server = createServer((request, response) => void node(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { handler, backend: httpBackend(`http://127.0.0.1:${port}/mcp`) };
}

const BACKENDS = {
  HTTP: async () => (await dualHttp()).backend,
  stdio: async () => stdioBackend('far', fixture('dual-server.ts')),
} as const;

describe.each(Object.entries(BACKENDS))('a dual-era server over %s', (name, backendOf) => {
  proves(['choice.probe.modern', 'ask.backend.either-revision'], 'is used in the newer era', async () => {
    const { manager } = await managerWith([await backendOf()]);
    expect(manager.states()[0]).toMatchObject({ status: 'ready', era: '2026-07-28' });
    const result = await send(manager, { backend: 'far', original: 'echo', arguments: { text: 'hello ✓' } });
    expect(textOf(result)).toBe('hello ✓');
    expect(result.resultType).toBe('complete');
    expect(manager.counts().links).toBe(1);
  });

  it('is used in the older era when it is configured', async () => {
    const { manager } = await managerWith([{ ...(await backendOf()), era: 'legacy' }]);
    expect(manager.eraOf('far')).toBe('2025-11-25');
    expect(textOf(await send(manager, { backend: 'far', original: 'echo', arguments: { text: 'old' } }))).toBe('old');
  });

  proves('choice.capability.progress', 'sends progress and logs to the client', async () => {
    const { manager } = await managerWith([await backendOf()]);
    const client = { progressToken: Buffer.from('"p"'), logLevel: 'info' };
    const { call, told } = callOf({ backend: 'far', original: 'progress', client });
    expect(textOf(await manager.send(call))).not.toBe('token undefined');
    expect(told.map(({ method }) => method)).toEqual([
      'notifications/progress',
      'notifications/progress',
      'notifications/message',
    ]);
    expect(JSON.parse(told[0]?.params ?? '')).toMatchObject({ progressToken: 'p', progress: 1 });
  });

  it('gets its questions answered in a second round', async () => {
    const { manager } = await managerWith([await backendOf()]);
    const { owner } = testOwner('caller:x', { elicitation: {} });
    const first = await send(manager, { backend: 'far', original: 'confirm', owner });
    expect(first.resultType).toBe('input_required');
    expect(first.value.inputRequests).toHaveProperty('sure');
    const state = first.value.requestState;
    const second = await send(manager, {
      backend: 'far',
      original: 'confirm',
      owner,
      call: {
        round: 2,
        inputResponses: Buffer.from('{"sure":{"action":"accept","content":{"ok":true}}}'),
        ...(typeof state === 'string' ? { backendState: state } : {}),
      },
    });
    expect(textOf(second)).toBe('answer accept');
  });

  it('is notified of a cancelled call', async () => {
    const { manager } = await managerWith([await backendOf()]);
    const before = aborted.count;
    const stop = new AbortController();
    const pending = send(manager, { backend: 'far', original: 'hang', signal: stop.signal });
    await until(() => manager.counts().callsInFlight === 1);
    await send(manager, { backend: 'far', original: 'echo', arguments: { text: 'meanwhile' } });
    stop.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
    if (name === 'HTTP') await until(() => aborted.count === before + 1);
    expect(textOf(await send(manager, { backend: 'far', original: 'echo', arguments: { text: 'after' } }))).toBe(
      'after',
    );
  });
});

describe('changes of a modern server', () => {
  it('are received over subscriptions/listen', async () => {
    const { handler, backend } = await dualHttp();
    const { manager } = await managerWith([backend]);
    const { owner, updated } = testOwner('caller:w');
    await manager.watch('far', 'note://one', owner);
    handler.notify.resourceUpdated('note://one');
    await until(() => updated.length === 1);
    expect(JSON.parse(updated[0] ?? '')).toEqual({ uri: 'note://one' });
    await manager.unwatch('far', 'note://one', owner);
  });

  it('make the lists read again; a stream that broke is opened again and the lists with it', async () => {
    let tools = [{ name: 'one', inputSchema: {} }];
    const streams: Parameters<typeof openStream>[0][] = [];
    const server = await httpServer((got) => {
      if (got.message?.method !== 'subscriptions/listen') {
        return modernAnswers({ tools, capabilities: { tools: { listChanged: true } } })(got);
      }
      expect(got.message.params?.notifications).toEqual({ toolsListChanged: true });
      openStream(got.response);
      streams.push(got.response);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': got.message.id };
      event(got.response, {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta, notifications: {} },
      });
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    await until(() => streams.length === 1);
    tools = [...tools, { name: 'two', inputSchema: {} }];
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} };
    for (const stream of streams) event(stream, changed);
    await until(() => manager.listings('').get('far')?.tools.length === 2);
    tools = [...tools, { name: 'three', inputSchema: {} }];
    streams[0]?.destroy();
    await until(() => manager.listings('').get('far')?.tools.length === 3);
    expect(streams).toHaveLength(2);
  });
});

describe('what goes to a modern server', () => {
  proves(
    ['choice.fidelity.headers-recomputed', 'choice.fidelity.param-headers', 'choice.fidelity.reserved-meta-request'],
    'has headers of the rewritten body and an envelope of its own',
    async () => {
      const properties = {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        n: { type: 'integer', 'x-mcp-header': 'N' },
      };
      const tools = [{ name: 'größe', inputSchema: { type: 'object', properties } }];
      const server = await httpServer(modernAnswers({ tools }));
      const { manager } = await managerWith([httpBackend(server.url)]);
      const { owner } = testOwner('caller:y', { elicitation: { form: {} } });
      const args = { region: 'Zürich', n: 42 };
      const mirrored = manager.listings('').get('far')?.tools[0]?.mirrored ?? [];
      const target = { ...callOf({ backend: 'far', original: 'größe' }).call.target, mirrored };
      const params =
        '{"arguments":{"region":"Zürich","n":42,"big":12345678901234567890},"name":"x_größe","requestState":"forged","x":1}';
      const meta = '{"traceparent":"00-a"}';
      await send(manager, {
        backend: 'far',
        original: 'größe',
        owner,
        params,
        meta,
        arguments: args,
        client: { logLevel: 'error' },
        call: { target },
      });
      const got = server.of('tools/call')[0];
      expect(got?.headers).toMatchObject({
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
        'mcp-param-region': '=?base64?WsO8cmljaA==?=',
        'mcp-param-n': '42',
      });
      expect(got?.headers['mcp-session-id']).toBeUndefined();
      expect(got?.body).toContain(
        '"params":{"name":"größe","arguments":{"region":"Zürich","n":42,"big":12345678901234567890},"_meta"',
      );
      expect(got?.message?.params).not.toHaveProperty('requestState');
      expect(got?.message?.params?._meta).toEqual({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'backend-test', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        'io.modelcontextprotocol/logLevel': 'error',
        traceparent: '00-a',
      });
    },
  );

  it('has the concrete URI where a template matched', async () => {
    const server = await httpServer(
      modernAnswers({
        before: (got) => {
          if (got.message?.method !== 'resources/read') return false;
          answer(got, { contents: [], resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    const sent = {
      backend: 'far',
      method: 'resources/read',
      kind: 'template',
      original: 'note://{id}',
      name: 'note://7',
    } as const;
    await send(manager, sent);
    const got = server.of('resources/read')[0];
    expect(got?.message?.params?.uri).toBe('note://7');
    expect(got?.headers['mcp-name']).toBe('note://7');
  });

  it('is sent once more after the list was read again when the mirrored headers were refused', async () => {
    let schema: object = { type: 'object' };
    const server = await httpServer((got) => {
      if (got.message?.method === 'tools/call' && got.headers['mcp-param-region'] === undefined) {
        schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
        return refuse(got, -32020, 'Mcp-Param-Region is missing', 400);
      }
      modernAnswers({ tools: [{ name: 'echo', inputSchema: schema as never }] })(got);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(textOf(await send(manager, { backend: 'far', original: 'echo', arguments: { region: 'eu' } }))).toBe(
      'modern',
    );
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('that is refused twice for this hop is a fault, not the words of the backend', async () => {
    const server = await httpServer((got) => {
      if (got.message?.method === 'tools/call') return refuse(got, -32020, 'never right', 400);
      modernAnswers()(got);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    await expect(send(manager, { backend: 'far', original: 'echo' })).rejects.toMatchObject({
      code: 'BACKEND_PROTOCOL',
    });
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('closes its stream on cancellation and sends no notification', async () => {
    let closed = false;
    const server = await httpServer((got) => {
      if (got.message?.method !== 'tools/call') return modernAnswers()(got);
      got.response.on('close', () => {
        closed = true;
      });
      openStream(got.response);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    const stop = new AbortController();
    const pending = send(manager, { backend: 'far', original: 'echo', signal: stop.signal });
    await until(() => server.of('tools/call').length === 1);
    stop.abort();
    await expect(pending).rejects.toThrow();
    await until(() => closed);
    expect(server.of('notifications/cancelled')).toHaveLength(0);
  });
});

describe('the verdict about a backend over HTTP', () => {
  proves('choice.probe.http-400', 'is legacy after a 400 with text', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'server/discover') return false;
          got.response.writeHead(400).end('Bad Request');
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.eraOf('far')).toBe('2025-11-25');
    await send(manager, { backend: 'far', original: 'echo' });
    expect(server.of('server/discover')).toHaveLength(1);
  });

  proves('choice.probe.negotiated-down', 'is legacy when discover names no modern version', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'server/discover') return false;
          answer(got, { supportedVersions: ['2025-11-25'], capabilities: {} });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.eraOf('far')).toBe('2025-11-25');
  });

  proves('choice.probe.recognised-error', 'is modern after an error that only this revision has', async () => {
    const server = await httpServer(
      modernAnswers({
        before: (got) => {
          if (got.message?.method !== 'server/discover') return false;
          refuse(got, -32021, 'need more', 400, { requiredCapabilities: {} });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.eraOf('far')).toBe('2026-07-28');
    expect(manager.listings('').get('far')?.tools).toHaveLength(1);
  });

  proves('choice.probe.inconclusive', 'stays open after 401 and 503', async () => {
    let status = 401;
    const server = await httpServer((got) => {
      if (status === 0) return modernAnswers()(got);
      got.response.writeHead(status).end();
      if (status === 401 && got.message?.method === 'server/discover') status = 503;
      else if (got.message?.method === 'initialize') status = 0;
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.states()[0]?.status).toBe('unauthenticated');
    await until(() => manager.states()[0]?.status === 'ready');
    expect(manager.eraOf('far')).toBe('2026-07-28');
  });

  proves('choice.probe.remembered', 'is asked for again when the backend refutes it', async () => {
    let modern = true;
    const server = await httpServer((got) => {
      if (modern) return modernAnswers()(got);
      if (got.headers['mcp-protocol-version'] === '2026-07-28')
        return refuse(got, -32022, 'not spoken', 400, { supported: [] });
      legacyAnswers()(got);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(manager.eraOf('far')).toBe('2026-07-28');
    modern = false;
    expect(textOf(await send(manager, { backend: 'far', original: 'echo' }))).toBe('legacy');
    expect(manager.eraOf('far')).toBe('2025-11-25');
  });
});
