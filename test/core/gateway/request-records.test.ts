import { connect } from 'node:net';
import { type CallRecord, definePlugin, type Plugin, type RequestRecord, recordOf } from '@toolmgr/core';
import { type FakeAnswer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loopbackServer } from '../../support/loopback-server.ts';
import { modernRequest, openSession, post, postModern, postStream, rawRequest } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

/** What a listener keeps of a record: the record itself is only good while it is told. */
type Kept = Pick<
  RequestRecord,
  'id' | 'servedBy' | 'status' | 'refusal' | 'error' | 'era' | 'isStream' | 'isGone' | 'remoteAddress' | 'responseBytes'
> & {
  readonly method: string | undefined;
  readonly caller: string | undefined;
  readonly session: string | undefined;
  readonly client: unknown;
  readonly call: string | undefined;
};

function kept(record: RequestRecord): Kept {
  const { id, servedBy, status, refusal, error, era, isStream, isGone, remoteAddress, responseBytes } = record;
  return {
    ...{ id, servedBy, status, refusal, error, era, isStream, isGone, remoteAddress, responseBytes },
    method: record.message?.method,
    caller: record.caller?.subject,
    session: record.session?.id,
    client: record.clientInfo?.name,
    call: record.call?.id,
  };
}

/** Asks the client in the middle of the call: two rounds for a modern client. */
const askBack: FakeAnswer = async ({ ask }) => {
  await ask('elicitation/create', {
    mode: 'form',
    message: 'Who?',
    requestedSchema: { type: 'object', properties: {} },
  });
  return { content: [] };
};

/** Fails after the answer has become a stream. */
const breakLate: FakeAnswer = ({ progress }) => {
  progress(1);
  throw { code: -32050, message: 'it is "broken"', data: { secret: 1 } };
};

const tokens: Plugin = definePlugin({
  address: 'test/tokens',
  config: z.strictObject({}),
  apply({ hooks }) {
    hooks.authenticate.tap('test/tokens', ({ headers: { authorization } }) => {
      if (authorization === undefined) return undefined;
      if (authorization !== 'Bearer good') return { refused: true, status: 401, reason: 'unknown token' };
      return { issuer: 'i', subject: 'ada', key: 'i\0ada', claims: {} };
    });
  },
});

interface Listening extends AsyncDisposable {
  readonly kit: TestGateway;
  readonly url: string;
  readonly settled: Kept[];
  readonly opened: Kept[];
  readonly calls: CallRecord[];
  /** Ids of the requests whose calls ended. */
  readonly recorded: (string | undefined)[];
}

/** A gateway behind a real HTTP server, and a plugin that hears everything. */
async function listening(...more: Plugin[]): Promise<Listening> {
  const settled: Kept[] = [];
  const opened: Kept[] = [];
  const calls: CallRecord[] = [];
  const recorded: (string | undefined)[] = [];
  const listener = definePlugin({
    address: 'test/listener',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.requestSettled.tap('test/listener', (record) => void settled.push(kept(record)));
      hooks.streamOpened.tap('test/listener', (record) => void opened.push(kept(record)));
      hooks.callSettled.tap('test/listener', (record) => {
        calls.push(record);
        recorded.push(recordOf(record.call)?.id);
      });
      hooks.mount.tap('test/listener', (routes) =>
        routes.add('GET', '/about', (_inbound, _body, responder) => responder.send(200, {}, 'hello')),
      );
    },
  });
  const backends = { far: fakeServer(['2025-11-25']).tool('t').tool('asks', askBack).tool('breaks', breakLate) };
  const kit = await testGateway({ plugins: [listener, ...more], backends });
  const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
  return {
    kit,
    url: `${server.url}/mcp`,
    settled,
    opened,
    calls,
    recorded,
    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('a request', () => {
  proves('choice.told.every-request', 'is reported once when it is answered, in both eras, MCP or not', async () => {
    await using here = await listening();
    const session = await openSession(here.url);
    await session.request('tools/list');
    await session.request('ping');
    await postModern(here.url, 'tools/list');
    await fetch(new URL('/about', here.url));
    await fetch(new URL('/nowhere', here.url));
    expect(here.settled).toMatchObject([
      { method: 'initialize', era: '2025-11-25', status: 200, session: session.id, client: 'test', servedBy: 'mcp' },
      { method: 'notifications/initialized', status: 202, session: session.id },
      { method: 'tools/list', era: '2025-11-25', status: 200, session: session.id, client: 'test', call: undefined },
      { method: 'ping', status: 200, error: undefined },
      { method: 'tools/list', era: '2026-07-28', status: 200, session: undefined, client: 'test', caller: 'anonymous' },
      { servedBy: 'route', status: 200, method: undefined, caller: undefined, responseBytes: 5 },
      { servedBy: undefined, status: 404 },
    ]);
    expect(new Set(here.settled.map(({ remoteAddress }) => remoteAddress))).toEqual(new Set(['127.0.0.1']));
    expect(here.settled.every(({ responseBytes, status }) => responseBytes > 0 || status === 202)).toBe(true);
    expect(new Set(here.settled.map(({ id }) => id)).size).toBe(here.settled.length);
  });

  proves('choice.told.every-request', 'is reported with its refusal when its body was not read', async () => {
    await using here = await listening(tokens);
    const about = { 'content-type': 'application/json' };
    await rawRequest(here.url, 'POST', { ...about, host: 'evil.example' }, '{}');
    await post(here.url, {}, { origin: 'https://evil.example' });
    await post(here.url, {});
    await post(here.url, {}, { authorization: 'Bearer bad' });
    await post(here.url, 'torn', { authorization: 'Bearer good' });
    await fetch(here.url, { method: 'PUT' });
    expect(here.settled).toMatchObject([
      { status: 403, refusal: 'this Host is not served here', servedBy: undefined },
      { status: 403, refusal: 'this Origin is not allowed: add it to endpoint.allowedOrigins' },
      { status: 401, refusal: 'authentication is required', error: { code: 401 }, caller: undefined, servedBy: 'mcp' },
      { status: 401, refusal: 'unknown token', caller: undefined },
      { status: 400, refusal: undefined, caller: 'ada', error: { code: -32700, message: 'the body is not JSON' } },
      { status: 405, error: { code: -32600 } },
    ]);
  });

  it('is told with the error that its answer was, plain or in an event', async () => {
    await using here = await listening();
    await postModern(here.url, 'tools/call', { name: 'no "such" tool' }, { id: 'a "quoted" id' });
    await postModern(here.url, 'no/such/method');
    const session = await openSession(here.url);
    const params = { name: 'breaks', arguments: {}, _meta: { progressToken: 1 } };
    await (await session.stream('tools/call', params, 'i"d'.repeat(2_000))).rest();
    await until(() => here.settled.length === 5);
    expect(here.settled[4]).toMatchObject({ isStream: true, error: { code: -32050, message: 'it is "broken"' } });
    expect(here.settled.slice(0, 2)).toMatchObject([
      {
        status: 200,
        error: { code: -32602, message: 'unknown tool: tool "no "such" tool" not found' },
        call: undefined,
      },
      { status: 404, error: { code: -32601 } },
    ]);
  });

  proves('choice.told.one-id', 'has the id of the call it makes, and every round leads to the one call', async () => {
    await using here = await listening();
    await postModern(here.url, 'tools/call', { name: 't', arguments: {} });
    expect(here.settled).toMatchObject([{ method: 'tools/call', call: here.settled[0]?.id }]);
    expect(here.calls[0]?.call.id).toBe(here.settled[0]?.id);
    expect(here.calls[0]?.call.inbound?.remoteAddress).toBe('127.0.0.1');

    const client = await here.kit.client({ capabilities: { elicitation: {} }, answer: () => ({ action: 'accept' }) });
    await client.callTool('asks');
    const [, first, second] = here.settled;
    expect(second).toMatchObject({ method: 'tools/call', call: first?.id });
    expect(second?.id).not.toBe(first?.id);
    expect(here.calls.map(({ call }) => call.id)).toEqual([here.settled[0]?.id, first?.id]);
    expect(here.recorded).toEqual([here.settled[0]?.id, second?.id]);

    await here.kit.gateway.perform({ name: 't' });
    expect(here.calls[2]?.call.inbound).toBeUndefined();
    expect(here.recorded[2]).toBeUndefined();
  });

  proves('choice.told.every-request', 'whose answer is a stream is told when it begins and when it ends', async () => {
    await using here = await listening();
    const session = await openSession(here.url);
    const stream = await session.get();
    await until(() => here.opened.length === 1);
    expect(here.opened).toMatchObject([{ status: 200, isStream: true, session: session.id }]);
    expect(here.settled).toHaveLength(2);
    await stream.close();
    await until(() => here.settled.length === 3);
    expect(here.settled[2]).toMatchObject({ isStream: true, isGone: true, session: session.id });

    const listen = await postStream(here.url, ...modernListen());
    await until(() => here.opened.length === 2);
    await here.kit.gateway.stop();
    await listen.text();
    expect(here.settled[3]).toMatchObject({ method: 'subscriptions/listen', isStream: true, isGone: false });
  });

  proves('choice.told.every-request', 'is reported when its client disconnects before the response', async () => {
    await using here = await listening();
    const socket = connect(Number(new URL(here.url).port), '127.0.0.1');
    socket.write('POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n');
    socket.write('content-length: 100\r\n\r\n{"half');
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroySoon();
    await until(() => here.settled.length === 1);
    expect(here.settled[0]).toMatchObject({ status: 0, isGone: true, remoteAddress: '127.0.0.1' });
  });

  proves('choice.told.untapped-free', 'keeps no record without a listener', async () => {
    const seen: unknown[] = [];
    const looker = definePlugin({
      address: 'test/looker',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.authenticate.tap('test/looker', (inbound) => void seen.push(inbound.record));
      },
    });
    await using kit = await testGateway({ plugins: [looker], backends: { far: fakeServer().tool('t') } });
    await (await kit.client()).callTool('t').catch(() => {});
    expect(seen).toEqual([undefined]);
  });
});

function modernListen(): [Parameters<typeof post>[1], Record<string, string>] {
  const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  return [body, headers];
}
