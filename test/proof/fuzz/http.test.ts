import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.ts';
import { modernRequest, openSession, postModern } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { cuts, cutUp, effort, mutated, PROPERTY_MS } from './effort.ts';
import { BODY_BYTES, type Exchanged, exchange, openSurface, type Sent, type Surface, speakRaw } from './surface.ts';

let surface: Surface;
let start: ReturnType<Surface['counts']>;
let sessionId = '';
const opened = new Set<string>();

beforeAll(async () => {
  surface = await openSurface();
  await expectServing();
  start = surface.counts();
});
afterAll(() => surface?.[Symbol.asyncDispose]());

/** Checks that the gateway still serves both eras. */
async function expectServing(): Promise<void> {
  const modern = await postModern(surface.url, 'tools/call', { name: 'echo', arguments: { still: 'here' } });
  expect(modern.json.result?.content).toEqual([{ type: 'text', text: '{"still":"here"}' }]);
  const session = await openSession(surface.url);
  const legacy = await session.request('tools/call', { name: 'say', arguments: {} });
  expect(legacy.json.result?.content).toEqual([{ type: 'text', text: 'said' }]);
  await endSession(session.id);
}

async function endSession(id: string): Promise<void> {
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await fetch(surface.url, { method: 'DELETE', headers });
}

/** Checks that all resources of a run are released. */
async function expectAsAtStart(): Promise<void> {
  for (const id of [...opened, sessionId]) await endSession(id);
  opened.clear();
  await expectServing();
  const { links, processes, ...others } = start;
  const isBack = (): boolean => {
    const now = surface.counts();
    return (
      now.links <= links && now.processes <= processes && JSON.stringify(now) === JSON.stringify({ ...now, ...others })
    );
  };
  await until(isBack).catch(() => expect(surface.counts()).toEqual(start));
  expect(surface.logged.filter((line) => /failed|internal/i.test(line))).toEqual([]);
}

const names = fc.constantFrom('echo', 'say', 'ask', 'wonder', 'fail', 'unknown', '', 'memo://1', 'plan');
const methods = fc.constantFrom(
  ...['tools/call', 'tools/list', 'prompts/get', 'prompts/list', 'resources/read', 'resources/list', 'ping'],
  ...['resources/templates/list', 'resources/subscribe', 'completion/complete', 'logging/setLevel', 'initialize'],
  ...['server/discover', 'subscriptions/listen', 'tasks/get', 'notifications/cancelled', 'notifications/initialized'],
  ...['notifications/roots/list_changed', 'nothing/known', '', 'constructor'],
);
const jsonValue = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
const sometimes = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other });

const params = fc.record(
  {
    name: sometimes<JsonValue>(names, jsonValue),
    uri: sometimes<JsonValue>(names, jsonValue),
    arguments: sometimes<JsonValue>(fc.constant({ a: 1 }), jsonValue),
    cursor: jsonValue,
    ref: sometimes<JsonValue>(fc.constant({ type: 'ref/prompt', name: 'plan' }), jsonValue),
    argument: sometimes<JsonValue>(fc.constant({ name: 'a', value: '' }), jsonValue),
    inputResponses: jsonValue,
    requestState: jsonValue,
    requestId: jsonValue,
    level: sometimes<JsonValue>(fc.constant('debug'), jsonValue),
    protocolVersion: sometimes<JsonValue>(fc.constant('2025-11-25'), jsonValue),
    capabilities: sometimes<JsonValue>(fc.constant({ elicitation: {} }), jsonValue),
    clientInfo: sometimes<JsonValue>(fc.constant({ name: 'fuzz', version: '1' }), jsonValue),
    notifications: jsonValue,
  },
  { requiredKeys: ['name', 'uri', 'protocolVersion', 'capabilities', 'clientInfo'] },
);
const id = sometimes<JsonValue>(fc.oneof(fc.integer(), fc.string()), jsonValue);

/** A request as a client of 2026-07-28 sends it. */
const modern = fc.record({ method: methods, params, id }).map(({ method, params: given, id: key }): Sent => {
  const capabilities = { elicitation: {} };
  const { body, headers } = modernRequest(method, given as JsonObject, { capabilities, meta: { progressToken: 1 } });
  return { method: 'POST', path: '/mcp', headers: sendable(headers), body: bytesOf({ ...body, id: key }) };
});

/** A request as a client with a session sends it. */
const legacy = fc.record({ method: methods, params, id }).map(({ method, params: given, id: key }): Sent => {
  const body = bytesOf({ jsonrpc: '2.0', id: key, method, params: given as JsonObject });
  return {
    method: 'POST',
    path: '/mcp',
    headers: { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'LIVE' },
    body,
  };
});

function bytesOf(message: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(message));
}

const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '2026-07-28',
    '2025-11-25',
    '1999-01-01',
    'LIVE',
    'tools/call',
    'echo',
    '=?base64?ZWNobw==?=',
  ),
  fc.constantFrom(
    '=?base64?%%?=',
    'application/json',
    'text/plain',
    'text/event-stream',
    '*/*',
    'null',
    '1',
    'x'.repeat(3000),
  ),
  fc.constantFrom('http://localhost', 'http://evil.example', 'localhost', 'evil.example', 'gzip', '100-continue'),
  fc.string({ unit: 'binary-ascii', maxLength: 10 }).map((text) => text.replace(/[^\t\x20-\x7e]/g, '~')),
);
const headerName = fc.constantFrom(
  ...['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'],
  ...['origin', 'host', 'mcp-param-a', 'authorization', 'content-encoding', 'access-control-request-method', 'cookie'],
);
const httpMethod = fc.constantFrom(
  'POST',
  'POST',
  'POST',
  'GET',
  'DELETE',
  'PUT',
  'PATCH',
  'OPTIONS',
  'HEAD',
  'PROPFIND',
);
const path = fc.constantFrom('/mcp', '/mcp', '/mcp', '/mcp?a=1', '/mcp/', '/', '//', '/%00', '/mcp/../mcp', '*');

/** Requests of both eras with arbitrary changes. */
const changed = fc
  .record({
    sent: fc.oneof(modern, legacy),
    method: sometimes<string | undefined>(fc.constant(undefined), httpMethod),
    path: sometimes<string | undefined>(fc.constant(undefined), path),
    more: fc.dictionary(headerName, headerText, { maxKeys: 2 }),
    less: fc.array(headerName, { maxLength: 2 }),
  })
  .chain(({ sent, method = sent.method, path: target = sent.path, more, less }) => {
    const headers = { ...JSON_HEADERS, ...sent.headers, ...more };
    for (const name of less) if (name !== 'host') delete headers[name as keyof typeof headers];
    const body = sent.body ?? Buffer.alloc(0);
    return fc
      .oneof(fc.constant(body), mutated(fc.constant(body)), fc.constantFrom(...ODD_BODIES))
      .map((bytes): Sent => ({ method, path: target, headers, body: bytes }));
  });

/** Answers of any shape with the keys of the server requests. */
const answers = fc.dictionary(
  fc.constantFrom('q1', 'who', 'url1', '__proto__'),
  sometimes<JsonValue>(fc.constant({ action: 'accept', content: { name: 'Ada' } }), jsonValue),
  { maxKeys: 3 },
) as fc.Arbitrary<JsonValue>;

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const ODD_BODIES = [
  Buffer.alloc(0),
  Buffer.from('[]'),
  Buffer.from('[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
  Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(5000)}`),
  Buffer.from('{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'),
  Buffer.from([0xff, 0xfe, 0x00]),
  Buffer.alloc(BODY_BYTES + 1, ' '),
  Buffer.alloc(BODY_BYTES * 5, '{'),
];

const ALLOWED = new Set([200, 202, 204, 400, 403, 404, 405, 406, 408, 413, 415, 417, 421, 429, 431]);

/** Converts header values to ones that Node's client can send. */
function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e]/g, '~')]),
  );
}

/** Replaces `LIVE` by the id of a live session. */
function live(sent: Sent): Sent {
  const entries = Object.entries(sent.headers).map(([name, value]) => [name, value === 'LIVE' ? sessionId : value]);
  return { ...sent, headers: Object.fromEntries(entries) };
}

async function freshSession(): Promise<void> {
  if (sessionId !== '') opened.add(sessionId);
  sessionId = (await openSession(surface.url, { capabilities: { elicitation: {} } })).id;
}

/** The id that an answer must carry; `undefined` when the body is no single message with an id. */
function idOf(body: Buffer | undefined): JsonValue | undefined {
  if (body === undefined || !isUtf8(body)) return undefined;
  try {
    const message: unknown = JSON.parse(String(body));
    const found = isObject(message) ? message.id : undefined;
    return typeof found === 'string' || typeof found === 'number' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Checks that hold for every response. */
function expectProper(sent: Sent, { status, headers, text, isWhole }: Exchanged): void {
  expect(ALLOWED, `${status} ${text}`).toContain(status);
  const type = headers['content-type'] ?? '';
  if (text === '' || sent.method === 'HEAD') return;
  if (type.startsWith('application/problem+json')) {
    expect(JSON.parse(text)).toMatchObject({ status, title: expect.any(String), code: expect.any(String) });
    return;
  }
  if (type.startsWith('application/json')) return expectMessage(sent, status, JSON.parse(text));
  expect(type).toMatch(/^text\/event-stream/);
  const data = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') && line.length > 6 ? [line.slice(6)] : []));
  const last = data.at(-1);
  if (!isWhole || last === undefined) return;
  const message = JSON.parse(last) as JsonObject;
  if (message.method === undefined) expectMessage(sent, status, message);
}

function expectMessage(sent: Sent, status: number, message: JsonObject): void {
  expect(message.jsonrpc).toBe('2.0');
  const asked = idOf(sent.body);
  const { error } = message;
  if (error === undefined) {
    expect(status).toBe(200);
    expect(message).toMatchObject({ id: asked, result: expect.any(Object) });
    return;
  }
  expect(error).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
  expect(Number.isInteger((error as { code: number }).code)).toBe(true);
  // what is refused before its body was read, and what is no message, has no id to echo
  const isUnread = [403, 404, 405, 406, 408, 413, 415].includes(status) || message.id === null;
  if (!isUnread || message.id !== null) expect(message.id).toEqual(asked);
  if (asked !== undefined && status === 400 && sent.method === 'POST') expect(message.id).toEqual(asked);
}

describe('the HTTP surface', { timeout: PROPERTY_MS }, () => {
  it('answers every request with a valid status and message', async () => {
    await freshSession();
    await fc.assert(
      fc.asyncProperty(changed, async (given) => {
        const sent = live(given);
        const answer = await exchange(surface.port, sent).catch((cause: NodeJS.ErrnoException) => {
          // a body that is far too long is not read to its end: the client may see that before the answer
          if (['EPIPE', 'ECONNRESET'].includes(cause.code ?? '') && (sent.body?.length ?? 0) > BODY_BYTES)
            return undefined;
          throw cause;
        });
        if (answer === undefined) return;
        const id = answer.headers['mcp-session-id'];
        if (typeof id === 'string') opened.add(id);
        expectProper(sent, answer);
        if (answer.status === 200 && sent.method === 'DELETE') await freshSession();
      }),
      effort(800),
    );
    await expectAsAtStart();
  });

  it('answers pipelined requests in order, up to the first invalid one', async () => {
    await freshSession();
    const request = fc
      .oneof(modern, legacy)
      .map((sent) => ({ ...sent, headers: { ...JSON_HEADERS, ...sent.headers } }));
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 5 }), cuts, async (requests, at) => {
        const sent = requests.map((each) => live(each)).filter(isShort);
        const bytes = Buffer.concat(sent.map((each) => onWire(each)));
        if (sent.length === 0) return;
        const isAll = (came: Buffer): boolean => answersIn(came).length >= sent.length;
        const came = answersIn(await speakRaw(surface.port, cutUp(bytes, at), 0, isAll));
        expect(came.length).toBe(sent.length);
        for (const [index, answer] of came.entries()) {
          const { [index]: asked } = sent;
          const found = answer.headers['mcp-session-id'];
          if (typeof found === 'string') opened.add(found);
          if (asked !== undefined) expectProper(asked, answer);
        }
      }),
      effort(60),
    );
    await expectAsAtStart();
  });

  it('survives invalid HTTP and invalid chunked bodies', async () => {
    await freshSession();
    const wire = fc
      .oneof(modern, legacy)
      .map((sent) => onWire({ ...sent, headers: { ...JSON_HEADERS, ...sent.headers } }));
    const chunked = fc
      .tuple(modern, fc.array(fc.oneof(chunkSize, fc.string({ maxLength: 5 })), { maxLength: 4 }))
      .map(([{ headers }, chunks]) => {
        const head = headLines('POST', '/mcp', { ...JSON_HEADERS, ...headers, 'transfer-encoding': 'chunked' });
        return Buffer.from(`${head}${chunks.join('\r\n')}`);
      });
    const lying = fc
      .tuple(modern, fc.constantFrom('0', '5', '99999', '-1', 'x', '1, 2', '18446744073709551616'))
      .map(([{ headers, body }, length]) =>
        Buffer.concat([
          Buffer.from(headLines('POST', '/mcp', { ...JSON_HEADERS, ...headers, 'content-length': length })),
          body ?? Buffer.alloc(0),
        ]),
      );
    const garbage = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated(wire), chunked, lying, garbage), cuts, async (bytes, at) => {
        const came = await speakRaw(surface.port, cutUp(bytes, at), 15);
        if (came.length === 0) return;
        expect(came.toString('latin1')).toMatch(/^HTTP\/1\.1 [1-5]\d\d /);
        for (const [, status] of came.toString('latin1').matchAll(/^HTTP\/1\.1 (\d+) /gm)) {
          expect(['100', ...[...ALLOWED].map(String), '501', '505']).toContain(status);
        }
        for (const [, id] of came.toString('latin1').matchAll(/^mcp-session-id: (\S+)/gim)) opened.add(id ?? '');
      }),
      effort(150),
    );
    await expectAsAtStart();
  });

  it('handles any answers and any request state', async () => {
    const retry = fc.record({
      inputResponses: fc.oneof(jsonValue, answers),
      state: sometimes<'same' | 'changed' | JsonValue>(fc.constantFrom('same', 'same', 'changed'), jsonValue),
      tool: fc.constantFrom('ask', 'wonder', 'echo'),
    });
    const asked = fc.tuple(fc.constantFrom('ask', 'wonder'), fc.array(retry, { minLength: 1, maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(asked, async ([name, retries]) => {
        const capabilities = { elicitation: {} };
        const first = await postModern(surface.url, 'tools/call', { name, arguments: {} }, { capabilities });
        expect(first.json.result?.resultType, first.text).toBe('input_required');
        const sealed = String(first.json.result?.requestState);
        const tampered = `${sealed.slice(0, 20)}A${sealed.slice(21)}`;
        for (const { inputResponses, state, tool } of retries) {
          const requestState: JsonValue = state === 'same' ? sealed : state === 'changed' ? tampered : state;
          const given = { name: tool, arguments: {}, inputResponses, requestState };
          const { body, headers } = modernRequest('tools/call', given, { capabilities });
          const sent = { method: 'POST', path: '/mcp', headers: { ...JSON_HEADERS, ...headers }, body: bytesOf(body) };
          expectProper(sent, await exchange(surface.port, sent));
        }
        // ends waiting calls, because a stdio program cannot send requests for one call while another waits
        const inputResponses = { q1: { action: 'decline' }, who: { action: 'decline' } };
        const last = { name, arguments: {}, inputResponses, requestState: sealed };
        await postModern(surface.url, 'tools/call', last, { capabilities });
      }),
      effort(100),
    );
    await expectAsAtStart();
  });

  it('serves many concurrent clients, half of which disconnect', async () => {
    await freshSession();
    const some = fc.array(fc.tuple(fc.oneof(modern, legacy), fc.boolean()), { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(some, async (requests) => {
        await Promise.all(
          requests.map(async ([given, leaves]) => {
            const sent = live({ ...given, headers: { ...JSON_HEADERS, ...given.headers } });
            if (leaves) return speakRaw(surface.port, [onWire(sent)], 1).then(keepSessions);
            const answer = await exchange(surface.port, sent);
            const id = answer.headers['mcp-session-id'];
            if (typeof id === 'string') opened.add(id);
            expectProper(sent, answer);
          }),
        );
      }),
      effort(15),
    );
    await expectAsAtStart();
  });
});

function keepSessions(came: Buffer): void {
  for (const [, id] of came.toString('latin1').matchAll(/^mcp-session-id: (\S+)/gim)) opened.add(id ?? '');
}

const chunkSize = fc.constantFrom('0', '5', 'ffffffff', '-1', 'g', '5;x=y', '0\r\n', '1\r\na', '7fffffffffffffff');

/** Open streams would delay later requests. */
function isShort({ body }: Sent): boolean {
  const { method } = JSON.parse(String(body)) as JsonObject;
  const { name } = (JSON.parse(String(body)) as { params: JsonObject }).params;
  return method !== 'subscriptions/listen' && name !== 'ask';
}

function headLines(method: string, target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/1.1\r\nhost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function onWire({ method, path: target, headers, body = Buffer.alloc(0) }: Sent): Buffer {
  const all = { ...headers, 'content-length': `${body.length}` };
  return Buffer.concat([Buffer.from(headLines(method, target, all)), body]);
}

/** The complete responses of a connection, in order. */
function answersIn(bytes: Buffer): Exchanged[] {
  const answers: Exchanged[] = [];
  let rest = bytes.toString('latin1');
  for (let end = rest.indexOf('\r\n\r\n'); end !== -1; end = rest.indexOf('\r\n\r\n')) {
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const body = bodyIn(rest.slice(end + 4), headers);
    if (body === undefined) break;
    rest = body.left;
    const text = Buffer.from(body.text, 'latin1').toString();
    answers.push({ status: Number(/^HTTP\/1\.1 (\d+) /.exec(first)?.[1]), headers, text, isWhole: true });
  }
  return answers;
}

/** The body at the start of a text and the rest; `undefined` while it is incomplete. */
function bodyIn(
  rest: string,
  headers: Readonly<Record<string, string>>,
): { readonly text: string; readonly left: string } | undefined {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? 0);
    return rest.length < length ? undefined : { text: rest.slice(0, length), left: rest.slice(length) };
  }
  let text = '';
  let left = rest;
  for (let line = left.indexOf('\r\n'); line !== -1; line = left.indexOf('\r\n')) {
    const size = Number.parseInt(left.slice(0, line), 16);
    const end = line + 2 + size;
    if (left.length < end + 2) return undefined;
    text += left.slice(line + 2, end);
    left = left.slice(end + 2);
    if (size === 0) return { text, left };
  }
  return undefined;
}
