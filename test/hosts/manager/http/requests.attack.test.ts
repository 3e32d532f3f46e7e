import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import type { Operation } from '@toolmgr/plugins/kit/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';

const LONG = 120_000;
let manager: StartedManager;

beforeAll(async () => {
  manager = await startManager();
});

afterAll(() => manager.stop());

interface Sent {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Sends headers that `fetch` would not send. A stream is cut after its head. */
async function sendRaw(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Sent> {
  const { hostname, port } = new URL(manager.url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request({ hostname, port, method, path, headers: { ...headers, ...length }, agent: false });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  if (!/event-stream/.test(answer.headers['content-type'] ?? '')) for await (const chunk of answer) text += chunk;
  sent.destroy();
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}

/** Path of an operation with the same value for every parameter. */
function pathWith({ path }: Operation, value: string): string {
  return path.replace(/\{\w+\}/g, value);
}

const withToken = (): Record<string, string> => ({ authorization: `Bearer ${manager.token}` });
const named = (one: Operation): string => `${one.method} ${one.path}`;

/** Names of the operations whose answer is not the expected one. */
async function exceptions(check: (one: Operation) => Promise<string | undefined>): Promise<readonly string[]> {
  const found = await Promise.all(
    manager.operations.map(async (one) => {
      const wrong = await check(one);
      return wrong === undefined ? [] : [`${named(one)}: ${wrong}`];
    }),
  );
  return found.flat();
}

describe('every operation', () => {
  it.each([
    ['another Host name (DNS rebinding)', { host: 'attacker.example' }, 403],
    ['another Host name that begins like an own one', { host: 'localhost.attacker.example' }, 403],
    ['the page of another site', { origin: 'https://attacker.example' }, 403],
    ['the page of another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a request that a browser marks as from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a request that a browser marks as from the same site', { 'sec-fetch-site': 'same-site' }, 403],
  ])('refuses %s, also with the token', async (_what, headers, expected) => {
    const wrong = await exceptions(async (one) => {
      const { status } = await sendRaw(one.method, pathWith(one, 'x'), { ...withToken(), ...headers });
      return status === expected ? undefined : String(status);
    });
    expect(wrong).toEqual([]);
  });

  it('refuses a form post of another site, whatever its media type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/json']) {
      const wrong = await exceptions(async (one) => {
        const headers = { origin: 'https://attacker.example', 'content-type': type };
        const { status } = await sendRaw(
          one.method,
          pathWith(one, 'x'),
          headers,
          one.method === 'GET' ? undefined : '{}',
        );
        return status === 403 ? undefined : String(status);
      });
      expect(wrong).toEqual([]);
    }
  });

  it('needs the token, and refuses one in the URL', async () => {
    const wrong = await exceptions(async (one) => {
      const path = pathWith(one, 'x');
      const none = await sendRaw(one.method, path, {});
      const other = await sendRaw(one.method, path, { authorization: `Bearer ${manager.token}x` });
      const inUrl = await sendRaw(one.method, `${path}?access_token=${manager.token}`, {});
      const statuses = [none.status, other.status, inUrl.status].join(' ');
      return statuses === '401 401 400' && !inUrl.text.includes(manager.token) ? undefined : statuses;
    });
    expect(wrong).toEqual([]);
    expect(manager.logged.join('')).not.toContain(manager.token);
  });

  it(
    'takes no path, no line break and no NUL in a path parameter',
    async () => {
      const before = await readdir(manager.home, { recursive: true });
      const tricks = [
        '..%2f..%2f..%2fetc%2fpasswd',
        '%2e%2e',
        '%2e',
        '%2fetc%2fpasswd',
        'a%00b',
        'a%0d%0aset-cookie:%20a=b',
        '..%5c..%5cwindows',
        '%EF%BC%8E%EF%BC%8E',
        '-rf',
        '__proto__',
        'constructor',
        'x'.repeat(2_000),
      ];
      for (const trick of tricks) {
        const wrong = await exceptions(async (one) => {
          // the name of a registry in the listing has no effect
          if (!one.path.includes('{') || /registryName\}\/v0\.1\/[^{]*$/.test(one.path)) return undefined;
          const { status, headers, text } = await sendRaw(one.method, pathWith(one, trick), withToken());
          const isRefused = status >= 400 && status < 500 && headers['set-cookie'] === undefined;
          return isRefused && !text.includes('root:') ? undefined : `${trick.slice(0, 30)} ${status}`;
        });
        expect(wrong).toEqual([]);
      }
      const isNew = (name: string): boolean => !before.includes(name) && !/locks|cache|\.lock$/.test(name);
      expect((await readdir(manager.home, { recursive: true })).filter(isNew)).toEqual([]);
    },
    LONG,
  );
});

describe('the listener', () => {
  it('refuses bodies that are too large, not JSON, or try to change prototypes', async () => {
    const path = '/api/v1beta/groups';
    const post = (body: string, type = 'application/json') =>
      sendRaw('POST', path, { ...withToken(), 'content-type': type }, body);
    expect((await post(`"${'x'.repeat(1_048_576)}"`)).status).toBe(413);
    expect((await post('{}', 'text/plain')).status).toBe(415);
    const torn = await post('{\n  "name": "a",\n  "x" 1}');
    expect(JSON.parse(torn.text).detail).toBe('body: not JSON at line 3, column 7');
    expect(JSON.parse((await post('{"name": "a"')).text).detail).toContain('not JSON at line 1');
    const polluting = await post('{"__proto__": {"name": "a"}}');
    expect([polluting.status, JSON.parse(polluting.text).code]).toEqual([400, 'bad_request']);
    expect(torn.text + polluting.text).not.toContain('"x"');
  });

  it('answers what is not HTTP, and headers that are too large, with a problem', async () => {
    const { port } = new URL(manager.url);
    const answerTo = async (text: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(text);
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      return answer;
    };
    expect(await answerTo('nonsense\r\n\r\n')).toContain('"code":"bad_request"');
    const large = `GET /health HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await answerTo(large)).toContain('"code":"headers_too_large"');
  });

  it(
    'serves other requests while 1,000 event streams are opened, and bounds their number',
    async () => {
      const { hostname, port } = new URL(manager.url);
      const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
      const open = Array.from({ length: 1_000 }, () => {
        const sent = request({ hostname, port, path: '/api/v1beta/events', headers: withToken(), agent });
        const status = new Promise<number>((resolve) => {
          sent.on('response', ({ statusCode = 0 }) => resolve(statusCode)).on('error', () => resolve(0));
        });
        sent.end();
        return { sent, status };
      });
      const statuses = await Promise.all(open.map(({ status }) => status));
      const started = performance.now();
      for (let n = 0; n < 20; n += 1) expect((await manager.request('GET', '/api/v1beta/version')).status).toBe(200);
      expect(performance.now() - started).toBeLessThan(20_000);
      const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
      expect(count(200)).toBeLessThanOrEqual(256);
      expect(count(200)).toBeGreaterThan(0);
      expect(count(200) + count(429) + count(0)).toBe(1_000);
      expect(count(429)).toBeGreaterThan(0);
      for (const { sent } of open) sent.destroy();
      agent.destroy();
    },
    LONG,
  );
});

it(
  'at most 256 streams of calls are open',
  async () => {
    const { hostname, port } = new URL(manager.url);
    const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
    const open = async (): Promise<number> => {
      const sent = request({ hostname, port, path: '/api/v1beta/calls/stream', headers: withToken(), agent });
      sent.on('error', () => {}).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.on('error', () => {}).resume();
      return answer.statusCode ?? 0;
    };
    const statuses = await Promise.all(Array.from({ length: 300 }, open));
    expect(statuses.filter((status) => status === 200)).toHaveLength(256);
    expect(statuses.filter((status) => status === 429)).toHaveLength(44);
    agent.destroy();
    await expect.poll(open, { timeout: 20_000 }).toBe(200); // closed streams do not count
    agent.destroy();
  },
  LONG,
);

it('a body with very many or very long unknown members costs little and is not repeated', async () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`nam${n}`, 1]));
  const first = await manager.request('POST', '/api/v1beta/workloads', { name: 'a', ...many });
  expect(first.body.errors).toHaveLength(21);
  expect(first.body.errors[20].detail).toBe('59980 more faults are not listed');
  const long = await manager.request('POST', '/api/v1beta/workloads', { name: 'a', ['n'.repeat(500_000)]: 1 });
  expect([long.status, long.text.length < 2_000]).toEqual([400, true]);
});

it('the page signs in once with a code, and its token ends with the token of the file', async () => {
  const { body } = await manager.request('POST', '/api/v1beta/page/codes');
  const signIn = (code: string) =>
    sendRaw('POST', '/api/v1beta/page/sign-in', { 'content-type': 'application/json' }, JSON.stringify({ code }));
  const first = await signIn(body.code);
  const { token } = JSON.parse(first.text);
  const statusWith = async (given: string): Promise<number> =>
    (await sendRaw('GET', '/api/v1beta/version', { authorization: `Bearer ${given}` })).status;
  expect(await statusWith(token)).toBe(200);
  expect((await signIn(body.code)).status).toBe(401);
  const [, ends = ''] = token.split('.');
  expect(await statusWith(token.replace(ends, String(Number(ends) + 1)))).toBe(401);
  expect(first.headers['set-cookie']).toBeUndefined();
});
