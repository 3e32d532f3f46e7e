import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import {
  modernParams,
  modernRequest,
  openEndpoint,
  openSession,
  post,
  postModern,
  rawRequest,
} from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';

/** One check: a request, and the expected status and code. The id of a readable request is always echoed. */
interface HeaderCheck {
  readonly proves: RequirementId;
  readonly says: string;
  readonly body: JsonObject | string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly code: number;
  /** `null` when the id was not readable. */
  readonly id?: number | string | null;
  readonly data?: JsonObject;
}

const modern = (method: string, params: JsonObject = {}) => modernRequest(method, params, { id: 'r-1' });
const call = modern('tools/call', { name: 'echo', arguments: {} });
const without = (headers: Readonly<Record<string, string>>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
const enveloped = (params: JsonObject, method = 'tools/list') => ({ jsonrpc: '2.0', id: 'r-1', method, params });
const listHeaders = modern('tools/list').headers;
const meta = (more: JsonObject) => modernParams({}, more);

const CHECKS: readonly HeaderCheck[] = [
  { proves: 'choice.wire.parse-error', says: 'torn JSON', body: '{"jsonrpc":', status: 400, code: -32700, id: null },
  { proves: 'choice.wire.parse-error', says: 'a torn array', body: '[{"a":1}', status: 400, code: -32700, id: null },
  { proves: 'choice.wire.parse-error', says: 'no body', body: '', status: 400, code: -32700, id: null },
  {
    proves: 'choice.wire.parse-error',
    says: 'bytes that are not UTF-8',
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    status: 400,
    code: -32700,
    id: null,
  },
  {
    proves: 'choice.wire.parse-error',
    says: 'JSON nested beyond the bound',
    body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(1_001)}${']'.repeat(1_001)}}`,
    status: 400,
    code: -32700,
    id: null,
  },
  ...['\\ud800', '\\uDC00x', '\\ud83dx\\ude00', '\\\\\\ud800', '\\ude00\\ud83d'].map(
    (text): HeaderCheck => ({
      proves: 'choice.wire.lone-surrogates',
      says: `the text ${text}`,
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"${text}"}}}`,
      status: 400,
      code: -32602,
      id: 1,
    }),
  ),
  { proves: 'choice.wire.not-single-message', says: 'a number', body: '5', status: 400, code: -32600, id: null },
  { proves: 'choice.http.batch-refused', says: 'an array', body: '[]', status: 400, code: -32600, id: null },
  {
    proves: 'choice.wire.modern-in-array',
    says: 'a modern request in an array',
    body: JSON.stringify([call.body]),
    headers: call.headers,
    status: 400,
    code: -32600,
    id: null,
  },
  {
    proves: 'choice.wire.not-single-message',
    says: 'a message of another JSON-RPC',
    body: { jsonrpc: '1.0', id: 'r-1', method: 'ping' },
    status: 400,
    code: -32600,
  },
  {
    proves: 'choice.modern.ids-unique',
    says: 'an id of null',
    body: '{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    status: 400,
    code: -32600,
    id: null,
  },
  {
    proves: 'choice.wire.not-single-message',
    says: 'params that are a list',
    body: '{"jsonrpc":"2.0","id":"r-1","method":"tools/list","params":[]}',
    status: 400,
    code: -32600,
  },
  {
    proves: 'choice.wire.modern-header-without-envelope',
    says: 'a modern header over a bare body',
    body: enveloped({}),
    headers: listHeaders,
    status: 400,
    code: -32602,
  },
  {
    proves: 'choice.error.envelope-key',
    says: 'an envelope without version',
    body: enveloped({ _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } }),
    headers: listHeaders,
    status: 400,
    code: -32602,
    data: { key: 'io.modelcontextprotocol/protocolVersion' },
  },
  {
    proves: 'choice.error.envelope-key',
    says: 'a version that is no string',
    body: enveloped(meta({ 'io.modelcontextprotocol/protocolVersion': 3 })),
    headers: listHeaders,
    status: 400,
    code: -32602,
    data: { key: 'io.modelcontextprotocol/protocolVersion' },
  },
  {
    proves: 'choice.wire.modern-header-missing',
    says: 'no version header',
    body: call.body,
    headers: without(call.headers, 'mcp-protocol-version'),
    status: 400,
    code: -32020,
  },
  {
    proves: 'choice.wire.modern-header-mismatch',
    says: 'another version in the header',
    body: call.body,
    headers: { ...call.headers, 'mcp-protocol-version': '2025-11-25' },
    status: 400,
    code: -32020,
  },
  {
    proves: 'choice.wire.modern-version-unsupported',
    says: 'a version from the future',
    body: enveloped(meta({ 'io.modelcontextprotocol/protocolVersion': '2031-01-01' })),
    headers: { ...listHeaders, 'mcp-protocol-version': '2031-01-01' },
    status: 400,
    code: -32022,
    data: { supported: ['2026-07-28', '2025-11-25'], requested: '2031-01-01' },
  },
  {
    proves: 'choice.wire.modern-version-unsupported',
    says: 'a version that is no date',
    body: enveloped(meta({ 'io.modelcontextprotocol/protocolVersion': 'v999.0.0' })),
    headers: { ...listHeaders, 'mcp-protocol-version': 'v999.0.0' },
    status: 400,
    code: -32022,
    data: { supported: ['2026-07-28', '2025-11-25'], requested: 'v999.0.0' },
  },
  {
    proves: 'choice.wire.method-header-missing',
    says: 'no Mcp-Method',
    body: call.body,
    headers: without(call.headers, 'mcp-method'),
    status: 400,
    code: -32020,
  },
  {
    proves: 'choice.wire.method-header-mismatch',
    says: 'another Mcp-Method',
    body: call.body,
    headers: { ...call.headers, 'mcp-method': 'tools/list' },
    status: 400,
    code: -32020,
  },
  {
    proves: 'choice.wire.method-header-case',
    says: 'Mcp-Method in capitals',
    body: call.body,
    headers: { ...call.headers, 'mcp-method': 'TOOLS/CALL' },
    status: 400,
    code: -32020,
  },
  ...(['tools/call', 'prompts/get', 'resources/read'] as const).map((method): HeaderCheck => {
    const { body, headers } = modern(method, method === 'resources/read' ? { uri: 'a:b' } : { name: 'echo' });
    const bare = without(headers, 'mcp-name');
    return {
      proves: 'choice.wire.name-header-missing',
      says: `${method} without Mcp-Name`,
      body,
      headers: bare,
      status: 400,
      code: -32020,
    };
  }),
  {
    proves: 'choice.wire.name-header-mismatch',
    says: 'another Mcp-Name',
    body: call.body,
    headers: { ...call.headers, 'mcp-name': 'other' },
    status: 400,
    code: -32020,
  },
  ...(['prompts/get', 'resources/read'] as const).map((method): HeaderCheck => {
    const { body, headers } = modern(method, method === 'resources/read' ? { uri: 'a:b' } : { name: 'echo' });
    return {
      proves: 'choice.wire.name-header-mismatch',
      says: `${method} with another Mcp-Name`,
      body,
      headers: { ...headers, 'mcp-name': 'other' },
      status: 400,
      code: -32020,
    };
  }),
  // a lenient decoder reads all of them as the name in the body: they must be refused for how they are written
  ...['=?base64?ZWNo*bw==?=', '=?base64?ZWNobw?=', '=?base64?ZWNobw=?=', '=?base64?ZWNobw== ?='].map(
    (name): HeaderCheck => ({
      proves: 'choice.encoding.bad-base64',
      says: `an Mcp-Name of bad base64, ${name}`,
      body: call.body,
      headers: { ...call.headers, 'mcp-name': name },
      status: 400,
      code: -32020,
    }),
  ),
  ...['tasks/get', 'tasks/update', 'tasks/cancel'].map(
    (method): HeaderCheck => ({
      proves: 'choice.wire.name-header-tasks',
      says: `${method} with another Mcp-Name`,
      body: enveloped(modernParams({ taskId: 't1' }), method),
      headers: { ...listHeaders, 'mcp-method': method, 'mcp-name': 't2' },
      status: 400,
      code: -32020,
    }),
  ),
  {
    proves: 'choice.wire.client-capabilities-missing',
    says: 'no clientCapabilities',
    body: enveloped({ _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }),
    headers: listHeaders,
    status: 400,
    code: -32602,
    data: { key: 'io.modelcontextprotocol/clientCapabilities' },
  },
  {
    proves: 'choice.error.envelope-key',
    says: 'a logLevel that is none',
    body: enveloped(meta({ 'io.modelcontextprotocol/logLevel': 'loud' })),
    headers: listHeaders,
    status: 400,
    code: -32602,
    data: { key: 'io.modelcontextprotocol/logLevel' },
  },
  ...['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'].map(
    (method): HeaderCheck => {
      const { body, headers } = modern(method);
      return {
        proves: 'choice.wire.method-removed',
        says: `removed ${method}`,
        body,
        headers,
        status: 404,
        code: -32601,
      };
    },
  ),
  {
    proves: 'choice.wire.method-unknown',
    says: 'an unknown method',
    ...modern('tools/guess'),
    status: 404,
    code: -32601,
  },
  {
    proves: 'choice.error.unknown-tool',
    says: 'an unknown tool, which is an answer',
    ...modern('tools/call', { name: 'unknown' }),
    status: 200,
    code: -32602,
  },
  {
    proves: 'choice.error.resource-not-found-modern',
    says: 'a missing resource',
    ...modern('resources/read', { uri: 'missing:x' }),
    status: 200,
    code: -32602,
    data: { uri: 'missing:x' },
  },
  {
    proves: 'choice.listen.missing-notifications',
    says: 'a listen without notifications',
    ...modern('subscriptions/listen'),
    status: 200,
    code: -32602,
  },
  {
    proves: 'choice.error.policy-denied',
    says: 'a denied call',
    ...modern('tools/call', { name: 'denied' }),
    status: 403,
    code: 403,
  },
];

describe('the request checks refuse', () => {
  for (const { proves: id, says, body, headers, status, code, data, ...check } of CHECKS) {
    proves([id, 'choice.wire.id-echo'], `${status} ${code} to ${says}`, async () => {
      await using open = await openEndpoint();
      const reply = await post(open.url, body, headers);
      expect({ status: reply.status, code: reply.json.error?.code }).toEqual({ status, code });
      expect(reply.json.id).toBe(check.id === undefined ? 'r-1' : check.id);
      if (data !== undefined) expect(reply.json.error?.data).toEqual(data);
      if (status === 400 || status === 404) expect(open.service.seen).toEqual([]);
    });
  }

  proves('choice.wire.lone-surrogates', 'not to whole pairs and escaped backslashes', async () => {
    await using open = await openEndpoint();
    for (const text of ['\\ud83d\\ude00', '\\uD83D\\uDE00', '\\\\ud800', '\\u0041', '\\ud7ff\\ue000']) {
      const body = JSON.stringify(call.body).replace('"arguments":{}', `"arguments":{"a":"${text}"}`);
      expect(body).toContain(text);
      expect((await post(open.url, body, call.headers)).status, text).toBe(200);
    }
  });

  proves('choice.wire.content-coding', '415 to a body with a coding or another charset', async () => {
    await using open = await openEndpoint();
    for (const [name, value, status] of [
      ['content-encoding', 'gzip', 415],
      ['content-encoding', 'identity, br', 415],
      ['content-encoding', 'identity', 200],
      ['content-type', 'application/json; charset=iso-8859-1', 415],
      ['content-type', 'application/json; x=1; Charset="utf-16"', 415],
      ['content-type', 'application/json; charset="UTF-8"', 200],
    ] as const) {
      const reply = await post(open.url, call.body, { ...call.headers, [name]: value });
      expect(reply.status, value).toBe(status);
      if (status === 415) {
        expect(reply.json.error?.message).toMatch(name === 'content-type' ? 'charset' : 'Content-Encoding');
        expect(reply.headers.get('accept-encoding')).toBe('identity');
      }
    }
  });

  proves('choice.wire.ambiguous-head', '400 to a head that can be read in two ways', async () => {
    await using open = await openEndpoint();
    const { host } = new URL(open.url);
    const heads: readonly [string, RegExp][] = [
      [`POST ${open.url} HTTP/1.1\r\nHost: ${host}\r\n`, /target/],
      [`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n`, /target/],
      [`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nhost: evil.test\r\n`, /host must not be repeated/],
      [
        `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n`,
        /authorization/,
      ],
      [
        `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\n`,
        /content-type/,
      ],
    ];
    for (const [head, says] of heads) {
      const answer = await answerTo(open.url, `${head}Connection: close\r\nContent-Length: 0\r\n\r\n`);
      expect(answer, head).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(says);
    }
  });

  proves('choice.wire.content-type', '415 to a body that is not called JSON', async () => {
    await using open = await openEndpoint();
    for (const type of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded']) {
      const reply = await post(open.url, call.body, { ...call.headers, 'content-type': type });
      expect(reply.status).toBe(415);
    }
    const fine = await post(open.url, call.body, {
      ...call.headers,
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(fine.status).toBe(200);
  });

  proves('choice.wire.other-methods-405', '405 with Allow to other HTTP methods', async () => {
    await using open = await openEndpoint();
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
      const reply = await fetch(open.url, { method });
      expect(reply.status).toBe(405);
      expect(reply.headers.get('allow')).toBe('POST, GET, DELETE');
    }
  });

  proves('choice.wire.modern-get-and-delete', 'GET and DELETE by the session rules, never as modern', async () => {
    await using open = await openEndpoint();
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' };
    expect((await fetch(open.url, { headers })).status).toBe(400);
    expect((await fetch(open.url, { headers, method: 'DELETE' })).status).toBe(400);
  });

  it('405 to GET and DELETE where only the stateless revision is served', async () => {
    await using open = await openEndpoint();
    open.service.eras = ['2026-07-28'];
    const reply = await fetch(open.url, { headers: { accept: 'text/event-stream' } });
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    expect((await post(open.url, initialize)).json.error?.code).toBe(-32022);
  });
});

describe('the request checks accept', () => {
  const accepted: readonly (readonly [RequirementId, string, Record<string, string>])[] = [
    ['choice.wire.name-header-whitespace', 'white space around Mcp-Name', { 'mcp-name': ' \techo  ' }],
    ['choice.encoding.sentinel', 'an encoded Mcp-Name', { 'mcp-name': '=?base64?ZWNobw==?=' }],
    ['choice.wire.method-header-case', 'header names in any case', { 'MCP-NAME': 'echo', 'MCP-METHOD': 'tools/call' }],
    ['choice.http.lenient-accept', 'a JSON-only Accept', { accept: 'application/json' }],
    ['choice.http.lenient-accept', 'an odd Accept', { accept: 'image/png' }],
  ];
  for (const [id, says, more] of accepted) {
    proves(id, says, async () => {
      await using open = await openEndpoint();
      const kept = Object.entries(call.headers).filter(([name]) => !(name.toUpperCase() in more));
      const reply = await rawRequest(
        open.url,
        'POST',
        { 'content-type': 'application/json', ...Object.fromEntries(kept), ...more },
        JSON.stringify(call.body),
      );
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    });
  }

  proves('choice.encoding.sentinel', 'names beyond ASCII when they are encoded', async () => {
    await using open = await openEndpoint();
    const name = '工具';
    const fine = { headers: { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` } };
    open.service.tools.set(name, () => ({ error: { code: 1234, message: 'reached' } }));
    expect((await postModern(open.url, 'tools/call', { name: 'x' }, { headers: { 'mcp-name': 'x' } })).status).toBe(
      200,
    );
    const { body, headers } = modernRequest('tools/call', { name });
    const reply = await post(open.url, body, { ...headers, ...fine.headers });
    expect(reply.json.error?.code).toBe(1234);
  });

  proves('choice.wire.notification-202', 'a notification with 202 and an empty body', async () => {
    await using open = await openEndpoint();
    const body = { jsonrpc: '2.0', method: 'notifications/whatever', params: modernParams() };
    const reply = await post(open.url, body, { 'mcp-protocol-version': '2026-07-28' });
    expect([reply.status, reply.text]).toEqual([202, '']);
    const bare = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(open.url, bare, { 'mcp-protocol-version': '2026-07-28' })).status).toBe(202);
  });
});

describe('the era of a request', () => {
  proves(
    ['choice.wire.no-claim-legacy', 'choice.wire.initialize-without-claim'],
    'is legacy without a claim in the body',
    async () => {
      await using open = await openEndpoint();
      const bare = await post(open.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
      expect([bare.status, bare.json.error?.code]).toEqual([400, -32000]);
      const params = { protocolVersion: '2026-07-28', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const reply = await post(
        open.url,
        { jsonrpc: '2.0', id: 1, method: 'initialize', params },
        { 'mcp-protocol-version': '2026-07-28' },
      );
      expect(reply.json.result?.protocolVersion).toBe('2025-11-25');
    },
  );

  proves('choice.wire.legacy-header-with-session-wins', 'is that of a live session whatever _meta says', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    const params = modernParams({ name: 'echo', arguments: {} });
    expect((await session.request('tools/call', params)).status).toBe(200);
    expect(open.service.seen.at(-1)?.client.era).toBe('2025-11-25');
    const stale = { ...session.headers, 'mcp-session-id': 'gone' };
    const reply = await post(open.url, { jsonrpc: '2.0', id: 3, method: 'tools/call', params }, stale);
    expect([reply.status, reply.json.error?.code]).toEqual([400, -32020]);
  });
});

/** The whole answer to bytes that no client library would send. */
async function answerTo(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(bytes);
  return text(socket);
}
