import type { Call } from '@toolmgr/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TICK_MS } from '../../../core/timing/shared-timers.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import {
  answer,
  callOf,
  event,
  type Got,
  httpBackend,
  httpServer,
  json,
  legacyAnswers,
  managerWith,
  openStream,
  refuse,
  send,
  testOwner,
  textOf,
} from './support.ts';

const OWNER = testOwner('session:http').owner;
const CALL = { backend: 'far', original: 'echo', owner: OWNER } as const;

function isCall(got: Got): boolean {
  return got.message?.method === 'tools/call';
}

describe('a legacy session over streamable HTTP', () => {
  it('carries its id and version, gets DELETE at the end, and nothing of the envelope', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager } = await managerWith([httpBackend(server.url)]);
    const meta = '{"traceparent":"00-1-2-01","com.example/x":9007199254740993}';
    expect(textOf(await send(manager, { ...CALL, arguments: { a: 1 }, meta }))).toBe('legacy');
    const call = server.of('tools/call')[0];
    expect(call?.headers).toMatchObject({ 'mcp-session-id': 's2', 'mcp-protocol-version': '2025-11-25' });
    expect(call?.headers['mcp-name']).toBeUndefined();
    expect(call?.body).toBe(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},' +
        '"_meta":{"traceparent":"00-1-2-01","com.example/x":9007199254740993}}}',
    );
    await manager.stop();
    const deleted = server.all.filter((got) => got.method === 'DELETE').map((got) => got.headers['mcp-session-id']);
    expect(deleted.sort()).toEqual(['s1', 's2']);
    expect(manager.counts()).toEqual({ links: 0, processes: 0, callsInFlight: 0 });
  });

  it('declares what its owner declares', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager } = await managerWith([httpBackend(server.url)]);
    const { owner } = testOwner('session:roots', { roots: { listChanged: true } });
    await send(manager, { ...CALL, owner });
    const declared = server.of('initialize').map((got) => got.message?.params?.capabilities);
    expect(declared).toEqual([{}, { roots: { listChanged: true } }]);
  });

  it('is shared per capability class when the server hands out none', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.message?.method !== 'initialize') return false;
          answer(got, {
            protocolVersion: '2025-03-26',
            capabilities: { tools: {} },
            serverInfo: { name: 'f', version: '1' },
          });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    await send(manager, { ...CALL, owner: testOwner('session:a').owner });
    await send(manager, { ...CALL, owner: testOwner('session:b').owner });
    const roots = { roots: {} };
    await send(manager, { ...CALL, owner: testOwner('session:c', roots).owner });
    await send(manager, { ...CALL, owner: testOwner('session:d', roots).owner });
    expect(server.of('initialize')).toHaveLength(2);
    expect(server.of('tools/call')[0]?.headers['mcp-protocol-version']).toBe('2025-03-26');
  });

  proves(
    ['choice.session.backend-session-lost', 'ask.backend.remade'],
    'is reopened once after a 404, and the call is repeated',
    async () => {
      let lost = false;
      const server = await httpServer(
        legacyAnswers({
          before: (got) => {
            if (!isCall(got) || got.headers['mcp-session-id'] !== 's2') return false;
            lost = true;
            got.response.writeHead(404).end();
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)]);
      expect(textOf(await send(manager, CALL))).toBe('legacy');
      expect(lost).toBe(true);
      expect(server.of('tools/call')).toHaveLength(2);
    },
  );

  it('is reopened once only', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (!isCall(got)) return false;
          refuse(got, -32000, 'Bad Request: No valid session ID provided', 400);
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(server.of('tools/call')).toHaveLength(2);
  });

  proves(
    'choice.session.repeat-only-safe',
    'repeats no tool call whose connection broke, but reads again',
    async () => {
      const server = await httpServer(
        legacyAnswers({
          before: (got) => {
            const { method } = got.message ?? {};
            if (method !== 'tools/call' && method !== 'resources/read') return false;
            got.response.destroy();
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)]);
      await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE', category: 'closed' });
      expect(server.of('tools/call')).toHaveLength(1);
      await expect(send(manager, { ...CALL, method: 'resources/read' })).rejects.toMatchObject({ category: 'closed' });
      expect(server.of('resources/read')).toHaveLength(2);
    },
  );

  it('receives messages on its GET stream and reads the lists again', async () => {
    let stream: Got['response'] | undefined;
    let tools = [{ name: 'one', inputSchema: {} }];
    const server = await httpServer((got) => {
      if (got.method === 'GET' && got.headers['mcp-session-id'] === 's1') {
        stream = got.response;
        return openStream(got.response);
      }
      legacyAnswers({ tools })(got);
    });
    const { manager, listed } = await managerWith([httpBackend(server.url)]);
    await until(() => stream !== undefined);
    tools = [...tools, { name: 'two', inputSchema: {} }];
    if (stream !== undefined) event(stream, { jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await until(() => manager.listings('').get('far')?.tools.length === 2);
    expect(listed).toEqual(['far/', 'far/']);
    if (stream !== undefined) event(stream, { jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    const reads = server.of('tools/list').length;
    await until(() => server.of('tools/list').length > reads);
    await send(manager, CALL);
    expect(listed).toHaveLength(2);
  });

  proves(
    'choice.legacy.own-list-change',
    'that tells of changed lists is believed for its own client, where the lists of its class are the same',
    async () => {
      const streams = new Map<unknown, Got['response']>();
      const answers = legacyAnswers();
      const server = await httpServer((got) => {
        if (got.method !== 'GET') return answers(got);
        streams.set(got.headers['mcp-session-id'], got.response);
        openStream(got.response);
      });
      const { manager, listed } = await managerWith([httpBackend(server.url)]);
      const [one, other] = [testOwner('session:1'), testOwner('session:2')];
      await send(manager, { ...CALL, owner: one.owner });
      await send(manager, { ...CALL, owner: other.owner });
      await until(() => streams.size === 3);
      const own = streams.get('s2') as Got['response'];
      event(own, { jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      event(own, { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
      await until(() => one.changed.length === 2);
      expect(one.changed).toEqual(['tools', 'prompts']);
      expect(other.changed).toEqual([]);
      expect(listed).toEqual(['far/']);
    },
  );

  proves('choice.legacy.level-first', 'runs no call at another log level than the one that was set', async () => {
    let level = 'none';
    const levels: string[] = [];
    const server = await httpServer(
      legacyAnswers({
        capabilities: { tools: {}, logging: {} },
        before: (got) => {
          if (isCall(got)) levels.push(level);
          if (got.message?.method !== 'logging/setLevel') return false;
          setTimeout(() => {
            level = String(got.message?.params?.level);
            answer(got, {});
          }, 50);
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    const { owner } = testOwner('session:levels');
    manager.setLogLevel(owner, 'error');
    await send(manager, { ...CALL, owner });
    manager.setLogLevel(owner, 'info');
    await Promise.all([send(manager, { ...CALL, owner }), send(manager, { ...CALL, owner })]);
    await send(manager, { ...CALL, owner, client: { era: '2026-07-28', logLevel: 'debug' } });
    expect(levels).toEqual(['error', 'info', 'info', 'debug']);
  });

  it.each([
    ['closes its GET stream at once and says not to wait', 'retry: 0\n\n'],
    ['closes its GET stream without a word', ''],
  ])('is not kept busy by a server that %s', async (_, said) => {
    let opened = 0;
    const server = await httpServer((got) => {
      if (got.method !== 'GET') return legacyAnswers()(got);
      opened += 1;
      openStream(got.response);
      got.response.end(said);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    await until(() => opened >= 1);
    const before = opened;
    for (let n = 0; n < 20; n++) await send(manager, { ...CALL, arguments: {} });
    const end = performance.now() + 300; // there is nothing to wait for: what must not happen takes time
    await until(() => performance.now() >= end);
    expect(opened - before).toBeLessThan(20);
  });

  it('opens a GET stream again where it stopped', async () => {
    const gets: (string | undefined)[] = [];
    const server = await httpServer((got) => {
      if (got.method !== 'GET') return legacyAnswers()(got);
      gets.push(got.headers['last-event-id'] as string | undefined);
      openStream(got.response);
      if (gets.length > 1) return;
      got.response.write('retry: 10\n\n');
      event(
        got.response,
        { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } },
        'e7',
      );
      got.response.end();
    });
    await managerWith([httpBackend(server.url)]);
    await until(() => gets.length === 2);
    expect(gets).toEqual([undefined, 'e7']);
  });

  proves('ask.legacy.resumable', 'resumes an answer stream that broke after an event id', async () => {
    let id: unknown;
    const server = await httpServer((got) => {
      if (isCall(got)) {
        id = got.message?.id;
        openStream(got.response);
        got.response.write('retry: 10\nid: a1\ndata:\n\n');
        got.response.end();
        return;
      }
      if (got.method === 'GET' && got.headers['last-event-id'] === 'a1') {
        openStream(got.response);
        event(got.response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'resumed' }] } }, 'a2');
        return;
      }
      legacyAnswers()(got);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(textOf(await send(manager, CALL))).toBe('resumed');
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('follows a move within its origin and none to another', async () => {
    const server = await httpServer((got) => {
      if (got.path === '/mcp') {
        got.response.writeHead(307, { location: '/mcp/' }).end();
        return;
      }
      legacyAnswers()(got);
    });
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(textOf(await send(manager, CALL))).toBe('legacy');
    const elsewhere = await httpServer((got) => {
      got.response.writeHead(307, { location: server.url }).end();
    });
    const { manager: second } = await managerWith([httpBackend(elsewhere.url)]);
    expect(second.states()[0]?.status).toBe('unavailable');
  });
});

describe('messages on the stream of a call', () => {
  proves(
    'choice.fidelity.ids-per-hop',
    'are sent to the client of that call, with its own token and without reserved meta',
    async () => {
      const server = await httpServer(
        legacyAnswers({
          before: (got) => {
            if (!isCall(got)) return false;
            const meta = got.message?.params?._meta as { progressToken?: unknown } | undefined;
            openStream(got.response);
            const raw = `{"progressToken":${JSON.stringify(meta?.progressToken)},"progress":1.0,"x":12345678901234567890}`;
            event(got.response, `{"jsonrpc":"2.0","method":"notifications/progress","params":${raw}}`);
            event(got.response, {
              jsonrpc: '2.0',
              method: 'notifications/message',
              params: { level: 'info', data: 'hi', _meta: { 'io.modelcontextprotocol/subscriptionId': 1, kept: 2 } },
            });
            event(got.response, { jsonrpc: '2.0', id: got.message?.id, result: { content: [] } });
            got.response.end();
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)]);
      const { call, told } = callOf({ ...CALL, client: { progressToken: Buffer.from('77') } });
      await manager.send(call);
      expect(told).toEqual([
        { method: 'notifications/progress', params: '{"progressToken":77,"progress":1.0,"x":12345678901234567890}' },
        { method: 'notifications/message', params: '{"level":"info","data":"hi","_meta":{"kept":2}}' },
      ]);
    },
  );

  it('are requests to the client; the timeout of the call is paused meanwhile and the response is sent by POST', async () => {
    let waiting: Got | undefined;
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (isCall(got)) {
            waiting = got;
            openStream(got.response);
            const params = { message: 'who?', _meta: { progressToken: 3 } };
            event(got.response, { jsonrpc: '2.0', id: 'q-1', method: 'elicitation/create', params });
            return true;
          }
          if (got.message?.id !== 'q-1') return false;
          got.response.writeHead(202).end();
          if (waiting === undefined) return true;
          const text = JSON.stringify(got.message.result);
          event(waiting.response, {
            jsonrpc: '2.0',
            id: waiting.message?.id,
            result: { content: [{ type: 'text', text }] },
          });
          waiting.response.end();
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)], {
      timeouts: { defaultMs: 200, perWorkloadMs: {} },
    });
    const pass = stoppedClock();
    const asked: string[] = [];
    const result = await send(manager, {
      ...CALL,
      client: {
        request: async (method, params) => {
          asked.push(`${method} ${params.toString()}`);
          pass(400); // a person thinks longer than the call may take
          await new Promise((resolve) => setTimeout(resolve, 3 * TICK_MS));
          return { result: Buffer.from('{"action":"accept","big":12345678901234567890}') };
        },
      },
    });
    expect(asked).toEqual(['elicitation/create {"message":"who?"}']);
    expect(textOf(result)).toContain('accept');
    const posted = server.all.find((got) => got.message?.id === 'q-1');
    expect(posted?.body).toBe('{"jsonrpc":"2.0","id":"q-1","result":{"action":"accept","big":12345678901234567890}}');
    expect(posted?.headers['mcp-session-id']).toBe('s2');
  });

  proves(
    'choice.legacy.message-after-answer',
    'that follow its response are sent to the session, not to another call',
    async () => {
      const open: Got[] = [];
      const server = await httpServer(
        legacyAnswers({
          before: (got) => {
            if (!isCall(got)) return false;
            open.push(got);
            openStream(got.response);
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)]);
      const { owner, logged } = testOwner('session:1');
      const first = callOf({ ...CALL, owner });
      const second = callOf({ ...CALL, owner });
      const ended = [first, second].map(({ call }) => manager.send(call));
      await until(() => open.length === 2);
      const [one, other] = open as [Got, Got];
      const late = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'late' } };
      const answered = { jsonrpc: '2.0', id: one.message?.id, result: { content: [] } };
      one.response.write(`data: ${JSON.stringify(answered)}\n\ndata: ${JSON.stringify(late)}\n\n`);
      await ended[0];
      await until(() => logged.length === 1);
      event(other.response, { jsonrpc: '2.0', id: other.message?.id, result: { content: [] } });
      await Promise.all(ended);
      expect([...first.told, ...second.told]).toEqual([]);
    },
  );

  it('are refused without a client, and a ping is answered', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (!isCall(got)) return false;
          openStream(got.response);
          event(got.response, { jsonrpc: '2.0', id: 1, method: 'ping' });
          event(got.response, { jsonrpc: '2.0', id: 2, method: 'sampling/createMessage', params: {} });
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    const stop = new AbortController();
    const pending = send(manager, { ...CALL, signal: stop.signal });
    const replies = () => server.all.filter((got) => got.message !== undefined && got.message.method === undefined);
    await until(() => replies().length === 2);
    expect(replies().map((got) => got.message)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: expect.any(String) } },
    ]);
    stop.abort();
    await expect(pending).rejects.toThrow();
    await until(() => server.of('notifications/cancelled').length === 1);
  });

  it('start the time of the call again as long as there is progress, up to the total', async () => {
    let waiting: Got | undefined;
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (!isCall(got)) return false;
          waiting = got;
          openStream(got.response);
          return true;
        },
      }),
    );
    const overrides = { timeouts: { defaultMs: 150, perWorkloadMs: {} }, limits: { callTotalMs: 600 } };
    const { manager } = await managerWith([httpBackend(server.url)], overrides);
    const pass = stoppedClock();
    const { call, told } = callOf({ ...CALL, client: { progressToken: Buffer.from('1') } });
    let failure: unknown;
    const ended = manager.send(call).catch((cause) => {
      failure = cause;
    });
    await until(() => waiting !== undefined);
    const { response, message } = waiting as unknown as Got;
    const { progressToken } = message?.params?._meta as { readonly progressToken?: unknown };
    const params = { progressToken, progress: 1 };
    for (let passedMs = 0; passedMs < 600; passedMs += 100) {
      const before = told.length;
      event(response, { jsonrpc: '2.0', method: 'notifications/progress', params });
      await until(() => told.length > before);
      pass(100);
    }
    await ended;
    expect(failure).toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });
});

/** Stops the clock of deadlines; the result lets milliseconds pass. */
function stoppedClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

const ODD_ANSWERS = {
  'HTTP 500 with HTML': ['BACKEND_PROTOCOL', (got: Got) => got.response.writeHead(500).end('<h1>no</h1>')],
  'HTTP 503': ['BACKEND_UNREACHABLE', (got: Got) => got.response.writeHead(503).end()],
  'HTTP 200 with HTML': [
    'BACKEND_PROTOCOL',
    (got: Got) => got.response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>'),
  ],
  'truncated JSON': ['BACKEND_PROTOCOL', (got: Got) => json(got.response, '{"jsonrpc":"2.0","id":2,"result":{"con')],
  'an answer to another request': [
    'BACKEND_PROTOCOL',
    (got: Got) => json(got.response, { jsonrpc: '2.0', id: 99, result: {} }),
  ],
  'an empty answer': ['BACKEND_PROTOCOL', (got: Got) => got.response.writeHead(202).end()],
  'a result that is no object': [
    'BACKEND_PROTOCOL',
    (got: Got) => json(got.response, { jsonrpc: '2.0', id: got.message?.id, result: 7 }),
  ],
  'garbage on a stream': [
    'BACKEND_PROTOCOL',
    (got: Got) => {
      openStream(got.response);
      event(got.response, 'not json');
      got.response.end();
    },
  ],
  'a stream without an answer': [
    'BACKEND_UNREACHABLE',
    (got: Got) => {
      openStream(got.response);
      got.response.end();
    },
  ],
  'HTTP 401': ['BACKEND_UNAUTHENTICATED', (got: Got) => got.response.writeHead(401).end()],
  'HTTP 403': ['BACKEND_UNAUTHENTICATED', (got: Got) => got.response.writeHead(403).end()],
  'a body over the limit': ['BACKEND_TOO_LARGE', (got: Got) => answer(got, { content: [], pad: 'x'.repeat(70_000) })],
  'an event over the limit': [
    'BACKEND_TOO_LARGE',
    (got: Got) => {
      openStream(got.response);
      event(got.response, { jsonrpc: '2.0', id: got.message?.id, result: { pad: 'x'.repeat(70_000) } });
    },
  ],
} as const;

describe('an answer that is not one', () => {
  it.each(Object.entries(ODD_ANSWERS))(
    '%s fails that call with its code and names only the backend',
    async (_, [code, odd]) => {
      const server = await httpServer(
        legacyAnswers({
          before: (got) => {
            if (!isCall(got)) return false;
            odd(got);
            return true;
          },
        }),
      );
      const { manager } = await managerWith([httpBackend(server.url)], {
        limits: { resultBytes: 65_536, frameBytes: 65_536 },
      });
      const failed = send(manager, CALL);
      await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining('"far"') });
      await expect(failed).rejects.not.toMatchObject({ message: expect.stringMatching(/127\.0\.0\.1|http:/) });
      expect(server.of('tools/call')).toHaveLength(1);
      expect(manager.counts().callsInFlight).toBe(0);
    },
  );

  it.each([
    [401, 'refused the credentials with HTTP 401'],
    [403, 'refused the request with HTTP 403: the credentials may lack a permission or scope'],
  ])('with status %i says what is wrong with the credentials', async (status, sentence) => {
    const before = (got: Got) => isCall(got) && got.response.writeHead(status).end() !== undefined;
    const server = await httpServer(legacyAnswers({ before }));
    const { manager } = await managerWith([httpBackend(server.url)]);
    await expect(send(manager, CALL)).rejects.toMatchObject({ message: `backend "far" ${sentence}` });
  });

  it('counts once when it comes twice', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (!isCall(got)) return false;
          openStream(got.response);
          for (const text of ['first', 'second']) {
            event(got.response, { jsonrpc: '2.0', id: got.message?.id, result: { content: [{ type: 'text', text }] } });
          }
          got.response.end();
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(textOf(await send(manager, CALL))).toBe('first');
  });

  it('may come byte by byte', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (!isCall(got)) return false;
          openStream(got.response);
          const message = {
            jsonrpc: '2.0',
            id: got.message?.id,
            result: { content: [{ type: 'text', text: 'slowly ✓' }] },
          };
          const bytes = Buffer.from(`event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`);
          let at = 0;
          const next = () => {
            got.response.write(bytes.subarray(at, ++at));
            if (at < bytes.length) setImmediate(next);
          };
          next();
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)]);
    expect(textOf(await send(manager, CALL))).toBe('slowly ✓');
  });

  proves(
    ['ask.fidelity.byte-equal', 'choice.fidelity.big-integers', 'choice.fidelity.unknown-content-types'],
    'arrives byte for byte, whatever it holds',
    async () => {
      const result =
        '{ "content" : [ {"type":"widget","n":9007199254740993.0e2,"é":"\\u00e9"} ],"structuredContent":{"id":12345678901234567890},' +
        '"futureField":[1.10,null] ,"_meta":{"z":1,"a":2}}';
      for (const streamed of [false, true]) {
        const server = await httpServer(
          legacyAnswers({
            before: (got) => {
              if (!isCall(got)) return false;
              const message = `{"result":${result},"id":${got.message?.id},"jsonrpc":"2.0"}`;
              if (!streamed) json(got.response, message);
              else {
                openStream(got.response);
                event(got.response, message);
                got.response.end();
              }
              return true;
            },
          }),
        );
        const { manager } = await managerWith([httpBackend(server.url)]);
        expect((await send(manager, CALL)).bytes.toString()).toBe(result);
      }
    },
  );
});

describe('credentials and headers', () => {
  it('come from the authorizer on every request, and the headers of the call never replace them', async () => {
    const server = await httpServer(legacyAnswers());
    const purposes: string[] = [];
    const { manager } = await managerWith([httpBackend(server.url)], {
      authorizer: () => ({
        async apply(outbound, { purpose, caller }) {
          purposes.push(`${purpose} ${caller.subject}`);
          outbound.headers.authorization = `Bearer for-${caller.subject}`;
        },
      }),
    });
    const headers: Call['headers'] = { authorization: 'stolen', 'x-request-tag': 'blue', 'mcp-session-id': 'other' };
    await send(manager, { ...CALL, call: { headers } });
    const call = server.of('tools/call')[0];
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer for-tester',
      'x-request-tag': 'blue',
      'mcp-session-id': 's2',
    });
    expect(server.of('initialize').map((got) => got.headers.authorization)).toEqual([
      'Bearer for-gateway',
      'Bearer for-tester',
    ]);
    expect(purposes).toContain('discovery gateway');
    expect(purposes).toContain('call tester');
  });

  it('that cannot be made fail the call with the code of the strategy', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager } = await managerWith([httpBackend(server.url)], {
      authorizer: () => ({
        apply(_, { purpose }) {
          if (purpose === 'call') throw new Error('no token');
        },
      }),
    });
    await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'AUTH_STRATEGY_FAILED' });
    expect(server.of('tools/call')).toHaveLength(0);
  });

  it('refused at discovery leave the status unauthenticated, and an owner with better ones is served', async () => {
    const server = await httpServer(
      legacyAnswers({
        before: (got) => {
          if (got.headers.authorization === 'Bearer for-tester') return false;
          got.response.writeHead(401).end();
          return true;
        },
      }),
    );
    const { manager } = await managerWith([httpBackend(server.url)], {
      authorizer: () => ({
        apply({ headers }, { caller }) {
          headers.authorization = `Bearer for-${caller.subject}`;
        },
      }),
    });
    expect(manager.states()[0]).toMatchObject({ status: 'unauthenticated', cause: { category: 'unauthenticated' } });
    await manager.prepareOwner(OWNER);
    expect(
      manager
        .listings('')
        .get('far')
        ?.tools.map((tool) => tool.key),
    ).toEqual(['echo']);
    expect(textOf(await send(manager, CALL))).toBe('legacy');
  });
});
