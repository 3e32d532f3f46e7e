import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../core/pipeline/mcp-request.ts';
import { text } from '../../support/fake-gateway.ts';
import {
  modernRequest,
  type OpenEndpoint,
  openEndpoint,
  openSession,
  post,
  postModern,
  postStream,
  rawRequest,
} from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const portOf = ({ origin }: OpenEndpoint) => Number(new URL(origin).port);

/** Writes raw bytes to the endpoint and collects what comes back until it closes. */
function rawSocket(open: OpenEndpoint, text: string) {
  const socket = connect(portOf(open), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(text);
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  return { socket, closed, received: () => received };
}

const head = (length: string) =>
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

describe('a body', () => {
  proves(
    ['choice.http.body-limit', 'ask.limit.body'],
    'over the limit is refused, and the client gets to know',
    async () => {
      await using open = await openEndpoint({ limits: { bodyBytes: 10_000 } });
      const { body, headers } = modernRequest('tools/call', { name: 'echo', arguments: { x: 'y'.repeat(9000) } });
      expect((await post(open.url, body, headers)).status).toBe(200);
      const larger = await post(open.url, JSON.stringify(body).padEnd(10_001), headers);
      expect([larger.status, larger.json.error?.code, larger.json.id]).toEqual([413, -32600, null]);
      expect((await post(open.url, ' '.repeat(39_000), headers)).status).toBe(413);
    },
  );

  it('that announces or sends far more is cut off', async () => {
    await using open = await openEndpoint({ limits: { bodyBytes: 1024 } });
    const announced = rawSocket(open, head('Content-Length: 99999999999'));
    expect(await announced.closed).toContain('413');
    const endless = rawSocket(open, `${head('Transfer-Encoding: chunked')}`);
    const timer = setInterval(() => endless.socket.write(`1000\r\n${'x'.repeat(4096)}\r\n`), 1);
    const answer = await endless.closed;
    clearInterval(timer);
    expect(answer).toContain('413');
  });

  it('that never comes to its end gets 408', async () => {
    await using open = await openEndpoint({ limits: { bodyTimeoutMs: 150 } });
    const slow = rawSocket(open, `${head('Content-Length: 100')}{"jsonrpc"`);
    const answer = await slow.closed;
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('-32600');
  });

  it('whose sender leaves in the middle costs nothing', async () => {
    await using open = await openEndpoint();
    const left = rawSocket(open, `${head('Content-Length: 100')}{"jsonrpc"`);
    await until(() => !left.socket.connecting);
    left.socket.destroy();
    await left.closed;
    expect((await postModern(open.url, 'tools/list')).status).toBe(200);
    expect(open.logged).toEqual([]);
  });

  it('of dangerous keys poisons nothing', async () => {
    await using open = await openEndpoint();
    const { body, headers } = modernRequest('tools/call', { name: 'echo' });
    const raw = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const sent = JSON.stringify(body).replace('"name":"echo"', `"name":"echo","arguments":${raw}`);
    expect((await post(open.url, sent, headers)).text).toContain(raw);
    expect(({} as { polluted?: number }).polluted).toBe(undefined);
    const hidden = '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"tools/list"}}';
    expect((await post(open.url, hidden)).json.error?.code).toBe(-32600);
  });

  proves('choice.wire.repeated-members', 'whose params name a member twice is refused, at any depth', async () => {
    await using open = await openEndpoint();
    const { body, headers } = modernRequest('tools/call', { name: 'echo', arguments: { path: '/public' } });
    const good = JSON.stringify(body);
    const path = '"path":"/public"';
    const twice = [
      good.replace('"name":"echo"', '"name":"denied","name":"echo"'),
      good.replace(path, `"path":"/secret",${path}`),
      good.replace(path, `"p\\u0061th":"/secret",${path}`),
      good.replace(path, `${path},"deep":[{"a":{"b":1,"c":":","b":2}}]`),
      good.replace(path, `${path},"__proto__":{"x":1},"__proto__":{"x":2}`),
    ];
    for (const sent of twice) {
      const { status, json } = await post(open.url, sent, headers);
      expect([sent, status, json.error?.code, json.id]).toEqual([sent, 400, -32602, body.id]);
    }
    const legacy = await openSession(open.url);
    const call = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}';
    expect((await post(open.url, call, legacy.headers)).json.error?.code).toBe(-32602);
    expect(open.service.seen).toEqual([]);
    const many = `${path},${Array.from({ length: 200 }, (_, n) => `"k${n}":{"k":":\\":","l":[{"k":{}}]}`).join()}`;
    expect((await post(open.url, good.replace(path, many), headers)).status).toBe(200);
  });

  it('with a member twice beside its params is read as its last one by everybody', async () => {
    await using open = await openEndpoint();
    const { body, headers } = modernRequest('tools/call', { name: 'echo' });
    const sent = JSON.stringify(body).replace('{', '{"method":"tools/list","params":{"name":"denied"},');
    expect((await post(open.url, sent, headers)).status).toBe(200);
    expect(open.service.seen[0]?.params.string('name')).toBe('echo');
    expect(open.service.seen[0]?.params.toBytes().toString()).not.toContain('denied');
  });
});

describe('a stolen session id', () => {
  proves('choice.session.owner-bound', 'is of no use, and the session ends', async () => {
    await using open = await openEndpoint();
    const mine = await openSession(open.url, { headers: { authorization: 'Bearer ada' } });
    const stream = await mine.get();
    const stolen = { ...mine.headers, authorization: 'Bearer mallory' };
    const theft = await post(open.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, stolen);
    expect([theft.status, theft.json.error?.code]).toEqual([404, -32001]);
    expect(open.service.seen).toEqual([]);
    expect(await stream.next()).toBe(undefined);
    expect((await mine.request('tools/list')).status).toBe(404);
    expect(open.ended).toMatchObject([{ sessionId: mine.id, reason: 'stolen' }]);
    expect(open.logged.some(({ level }) => level === 'warn')).toBe(true);
  });

  for (const [says, thief] of [
    ['no token on a bound session', {}],
    ['a token on an anonymous session', { authorization: 'Bearer mallory' }],
  ] as const) {
    it(`is of no use with ${says}, by any method`, async () => {
      await using open = await openEndpoint();
      for (const method of ['GET', 'DELETE', 'POST']) {
        const own: Record<string, string> = 'authorization' in thief ? {} : { authorization: 'Bearer ada' };
        const mine = await openSession(open.url, { headers: own });
        const headers = {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          'mcp-session-id': mine.id,
          'mcp-protocol-version': '2025-11-25',
          ...thief,
        };
        const body = method === 'POST' ? '{"jsonrpc":"2.0","method":"notifications/cancelled"}' : null;
        expect([method, (await fetch(open.url, { method, headers, body })).status]).toEqual([method, 404]);
      }
      expect(open.ended.map(({ reason }) => reason)).toEqual(['stolen', 'stolen', 'stolen']);
    });
  }

  it('is not found by tricks with the header', async () => {
    await using open = await openEndpoint();
    const mine = await openSession(open.url);
    for (const id of ['', `${mine.id}, ${mine.id}`, mine.id.toUpperCase(), `${mine.id}x`, '__proto__']) {
      const reply = await rawRequest(
        open.url,
        'POST',
        { 'content-type': 'application/json', 'mcp-session-id': id },
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      );
      expect([id, reply.status]).toEqual([id, 404]);
    }
    expect((await mine.request('ping')).status).toBe(200);
  });
});

describe('a slow reader', () => {
  it('costs a bounded buffer: logs are dropped, of progress the latest comes, the result always', async () => {
    await using open = await openEndpoint({ limits: { streamBufferBytes: 100_000 } });
    let finish: (answer: Answer) => void = () => {};
    let told = 0;
    open.service.tools.set('flood', ({ client }) => {
      const data = 'x'.repeat(1000);
      for (let n = 0; n < 20_000; n++, told++) {
        client.notify('notifications/message', Buffer.from(`{"level":"info","data":"${data}"}`));
        client.notify('notifications/progress', Buffer.from(`{"progressToken":1,"progress":${n}}`));
      }
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    const session = await openSession(open.url);
    const params = { name: 'flood', _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const length = Buffer.byteLength(body);
    const lines = Object.entries({ ...session.headers, Accept: 'application/json, text/event-stream' });
    const headers = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const slow = rawSocket(open, `${head(`${headers}Content-Length: ${length}\r\nConnection: close`)}${body}`);
    slow.socket.pause();
    await until(() => told === 20_000);
    finish(text('the end'));
    slow.socket.resume();
    const received = await slow.closed;
    expect(received).toContain('the end');
    expect(received).toContain('"progress":19999');
    expect(received.length).toBeLessThan(15_000_000); // of 20 MB; what the kernel took counts too
  });
});

describe('what a client says', () => {
  it('never reaches the log with its secrets', async () => {
    await using open = await openEndpoint();
    await postModern(
      open.url,
      'tools/call',
      { name: 'boom', arguments: { password: 'hunter2' } },
      { headers: { authorization: 'Bearer ada' } },
    );
    expect(JSON.stringify(open.logged)).not.toContain('hunter2');
    expect(JSON.stringify(open.logged)).not.toContain('Bearer');
  });

  it('cannot break a head or a frame of the answer', async () => {
    await using open = await openEndpoint();
    const { body, headers } = modernRequest(
      'tools/call',
      { name: 'progress' },
      { id: 'a\r\nb\n\ndata: {}', meta: { progressToken: 't\n\ndata: x' } },
    );
    const response = await postStream(open.url, body, headers);
    const blocks = (await response.text()).trim().split('\n\n');
    expect(blocks).toHaveLength(4);
    expect(blocks.every((block) => block.split('\n').filter((line) => line.startsWith('data:')).length === 1)).toBe(
      true,
    );
  });
});
