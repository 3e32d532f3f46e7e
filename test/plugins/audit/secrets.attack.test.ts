import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { definePlugin, type Plugin } from '@toolmgr/core';
import { fakeServer, text } from '@toolmgr/core/testing';
import { parsePartialJson, redacted, redactedText } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import headerInjection from '../../../plugins/outgoing-auth/header-injection/index.ts';
import { audited } from '../../support/audited.ts';
import { leastCpuMs } from '../../support/cpu-clock.ts';
import { openSession, post, postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl';
const ALL = { includeRequestData: true, includeResponseData: true, maxDataSize: 65_536 };

/** Accepts every token and keeps it for auth strategies. */
const bearer: Plugin = definePlugin({
  address: 'test/bearer',
  config: z.strictObject({}),
  apply({ hooks }) {
    hooks.authenticate.tap('test/bearer', ({ headers: { authorization = '' } }) => {
      const claims = { sub: 'ada', secret_claim: 'claim-canary', act: { sub: 'agent', token: 'act-canary' } };
      return { issuer: 'i', subject: 'ada', key: 'i\0ada', claims, token: { reveal: () => authorization } as never };
    });
  },
});

/** Members whose whole value is masked. */
const SECRET_NAMES = [
  ...['db_password', 'PASSWD', 'passphrase', 'sessionToken', 'client_secret', 'api-key', 'x-auth'],
  ...['aws_credentials', 'privateNote', 'Cookie'],
];

describe('no audit event', () => {
  proves('choice.audit.secrets', 'contains a token, a secret argument or a header, with all data enabled', async () => {
    const canaries = [JWT, 'canary'];
    const echoes = fakeServer()
      .tool('echo', ({ arguments: given, meta }) => text(JSON.stringify({ given, meta, note: `Bearer ${JWT}` })))
      .tool('leaks', () => {
        throw { code: -32000, message: `upstream said: authorization: Bearer ${JWT} is wrong` };
      });
    await using here = await audited({ far: echoes }, { plugins: [bearer], config: ALL });
    const headers = {
      authorization: `Bearer ${JWT}`,
      cookie: 'session=cookie-canary',
      'x-api-key': 'header-canary',
      'proxy-authorization': 'Basic proxy-canary',
      'user-agent': `probe/1 token=agent-canary`,
      'x-forwarded-for': `1.2.3.4, Bearer ${JWT}`,
    };
    const secrets = {
      password: 'argument-canary',
      nested: { apiKey: 'argument-canary', list: [{ access_token: { deep: 'argument-canary' } }] },
      env: [{ name: 'GITHUB_TOKEN', value: 'argument-canary' }],
      note: `use ${JWT} or https://user:url-canary@example.com/?access_token=query-canary`,
      json: JSON.stringify({ clientSecret: 'argument-canary' }),
      deeper: JSON.stringify({ json: JSON.stringify({ env: [{ name: 'MY_KEY', value: 'argument-canary' }] }) }),
      torn: JSON.stringify({ some: 'words', secret: { a: 'argument-canary' } }).slice(0, -4),
      words: Object.fromEntries(SECRET_NAMES.map((name) => [name, 'argument-canary'])),
      harmless: 'visible',
    };
    const answered = {
      name: 'echo',
      arguments: {},
      requestState: 'state-canary',
      inputResponses: { ask: { action: 'accept', content: { pin: 'answer-canary' } } },
    };
    const session = await openSession(here.url, { headers });
    await session.request('tools/call', { name: 'echo', arguments: secrets });
    await session.request('tools/call', { name: 'missing', arguments: secrets });
    await session.request('tools/call', { name: 'leaks', arguments: secrets });
    await postModern(here.url, 'tools/call', { name: 'echo', arguments: secrets }, { headers });
    await postModern(here.url, 'tools/call', answered, { headers });
    await postModern(here.url, 'tools/list', answered, { headers });
    await postModern(here.url, 'resources/read', { uri: `https://u:url-canary@h/?token=query-canary` }, { headers });
    await session.send({ method: 'notifications/progress', params: { progressToken: 'token-canary', progress: 1 } });
    await post(
      here.url,
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'token: answer-canary' } },
      session.headers,
    );
    await fetch(new URL('/callback?code=1&token=query-canary', here.url), { headers });
    await here.kit.gateway.stop();
    const whole = await here.text();
    for (const canary of canaries) expect(whole.split('\n').filter((line) => line.includes(canary))).toEqual([]);
    expect(whole).not.toContain(session.id);
    expect(whole).toContain('visible');
    expect((await here.lines()).length).toBe(12);
  });

  proves('choice.audit.secrets', 'contains a header that the gateway adds for a backend', async () => {
    const seen: string[] = [];
    const backend = createServer((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      seen.push(String(request.headers.authorization));
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        const echoed = JSON.stringify({ headers: request.headers });
        const results: Record<string, object> = {
          initialize: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'b', version: '1' },
          },
          'tools/list': { tools: [{ name: 'headers', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: echoed }], structuredContent: JSON.parse(echoed) },
        };
        response.setHeader('content-type', 'application/json');
        if (id === undefined) response.writeHead(202).end();
        else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
      });
    });
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
    const far = {
      transport: 'streamable-http' as const,
      url: `http://127.0.0.1:${(backend.address() as AddressInfo).port}/mcp`,
      era: 'legacy' as const,
    };
    const options = { headerName: 'Authorization', headerValue: 'ApiToken injected-canary' };
    const plan = { outgoingAuth: { default: { type: 'header_injection', options } } };
    await using here = await audited({ far }, { plugins: [headerInjection], config: ALL, plan });
    const reply = await postModern(here.url, 'tools/call', { name: 'headers', arguments: {} });
    expect(reply.text).toContain('injected-canary'); // the backend reveals it, the audit event does not
    await here.kit.gateway.stop();
    expect(seen).toContain('ApiToken injected-canary');
    expect(await here.text()).not.toContain('injected-canary');
    backend.closeAllConnections();
    backend.close();
  });

  it('contains a part of a secret when a response is cut inside it', async () => {
    const whole = JSON.stringify({
      note: 'some words',
      auth: { a: 'first-canary' },
      said: `is ${JWT}`,
      password: 'canary',
    });
    for (let length = 0; length <= whole.length; length++) {
      const value = parsePartialJson(whole.slice(0, length));
      expect(JSON.stringify(redacted(value ?? null))).not.toMatch(/canar|eyJhb|first-/);
    }
  });
});

describe('captured data', () => {
  proves(
    ['vmcp.audit.include-request-data', 'vmcp.audit.include-response-data', 'vmcp.audit.max-data-size'],
    'has request and response up to the size, and marks omitted parts',
    async () => {
      const far = fakeServer()
        .tool('short', () => text('brief'))
        .tool('long', () => text(`${'word '.repeat(500)}`));
      await using here = await audited({ far }, { config: { ...ALL, maxDataSize: 200 } });
      await postModern(here.url, 'tools/call', { name: 'short', arguments: { a: 1 } });
      await postModern(here.url, 'tools/call', { name: 'long', arguments: { a: 'x'.repeat(300) } });
      await postModern(here.url, 'tools/list');
      await postModern(here.url, 'tools/call', { name: 'none', arguments: { b: 2 } });
      const [short, long, list, none] = (await here.lines(4)).map(({ data }) => data);
      expect(short).toEqual({
        request: { name: 'short', arguments: { a: 1 } },
        response: expect.objectContaining({ content: [{ type: 'text', text: 'brief' }] }),
      });
      expect(long).toMatchObject({ request_omitted: true, response_truncated: true });
      expect(long).not.toHaveProperty('request');
      expect(JSON.stringify(long?.response)).toMatch(/"(word ){20,40}"/);
      expect(list).toMatchObject({ request: {}, response_truncated: true });
      expect(none).toMatchObject({ request: { name: 'none', arguments: { b: 2 } }, response: { code: -32602 } });
    },
  );

  it('is absent by default, and always for other routes', async () => {
    const login: Plugin = definePlugin({
      address: 'test/login',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.mount.tap('test/login', (routes) =>
          routes.add('POST', '/token', (_inbound, _body, responder) => responder.send(200, {}, '{"issued":"canary"}')),
        );
      },
    });
    await using open = await audited({ far: fakeServer().tool('t') }, { config: ALL, plugins: [login] });
    await post(new URL('/token', open.url).href, { code: 'canary' });
    expect(await open.lines()).toMatchObject([{ type: 'http_request', outcome: 'success' }]);
    expect(await open.text()).not.toContain('canary');
    await using plain = await audited({ far: fakeServer().tool('t') });
    await postModern(plain.url, 'tools/call', { name: 't', arguments: { a: 1 } });
    expect((await plain.lines())[0]).not.toHaveProperty('data');
  });

  it.each([
    ['{"a":1,"b":[1,2', { a: 1, b: [1] }],
    ['{"a":{"b":"one tw', { a: { b: 'one ' } }],
    ['{"a":tru', {}],
    ['{"a":true,', { a: true }],
    ['{"a":"x\\', { a: '' }],
    ['{"a":"one\\ntw\\u00', { a: 'one\n' }],
    ['{"ab', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['[[[', [[[]]]],
    ['"abc def', 'abc '],
    ['12.5', 12.5],
    ['{"a":"\\"","b":"}', { a: '"', b: '' }],
    ['{"a":-1.5e3}', { a: -1500 }],
    ['<html>', undefined],
    ['', undefined],
    ['{]', undefined],
  ])('decodes the beginning %j of a document', (firstBytes, value) => {
    expect(parsePartialJson(firstBytes)).toEqual(value);
  });

  it('decodes every prefix of a document to a prefix of its value', () => {
    const whole = '{"a":[{"b":null,"c":"x y\\u0041 z"},[],{}],"d":-1.5e-3,"e":{"f":"\\\\"},"g":false}';
    expect(parsePartialJson(whole)).toEqual(JSON.parse(whole));
    for (let length = 1; length < whole.length; length++) {
      expect(parsePartialJson(whole.slice(0, length)), whole.slice(0, length)).toBeDefined();
    }
  });

  it.each([
    ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
    ['curl -H "authorization: token abcdef" x', 'curl -H "authorization: [redacted]" x'],
    ['set-cookie: a=b; Path=/\nnext', 'set-cookie: [redacted]\nnext'],
    [`jwt ${JWT} end`, 'jwt [redacted] end'],
    ['postgres://ada:pw@db/x', 'postgres://[redacted]@db/x'],
    ['?api_key=abc&page=2', '?api_key=[redacted]&page=2'],
    ['{\\"password\\":\\"abc\\",\\"n\\":1}', '{\\"password\\":\\"[redacted]\\",\\"n\\":1}'],
    ['the answer: {"token":{"a":"b"},"c":1}', 'the answer: {"token":[redacted]'],
    ['got {"name":"API_KEY","value":"abc def"} back', 'got {"name":"API_KEY","value":"[redacted]"} back'],
    ['password = "two words" next', 'password = "[redacted]" next'],
    ['sk-live_0123456789abcdef0', '[redacted]'],
    ['ghp_0123456789abcdefghij', '[redacted]'],
    ['AKIAABCDEFGHIJKLMNOP', '[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----!', '[redacted]!'],
    ['an ordinary sentence about tokens and keys', 'an ordinary sentence about tokens and keys'],
    ['get_token', 'get_token'],
  ])('masks secrets by their format: %s', (given, safe) => {
    expect(redactedText(given)).toBe(safe);
  });

  it('is masked quickly also for hostile texts', () => {
    const hostile = [
      'eyJ'.repeat(20_000),
      '-eyJaaaaa'.repeat(30_000),
      'bearer '.repeat(10_000),
      `${'://a'.repeat(20_000)}`,
      'key='.repeat(20_000),
      '\\'.repeat(60_000),
      '-----BEGIN PRIVATE KEY-----'.repeat(3_000),
      'cookie:'.repeat(10_000),
      'sk-'.repeat(20_000),
    ];
    for (const text of hostile)
      expect(
        leastCpuMs(200, () => redactedText(text)),
        text.slice(0, 40),
      ).toBeLessThan(200);
    expect(redactedText(`-eyJaaaaa-${JWT}`)).not.toContain('c2lnbmF0dXJl');
    expect(redactedText('eyJaaaaaaaaaa: x')).toBe('eyJaaaaaaaaaa: x');
    let deep: object = {};
    for (let n = 0; n < 5_000; n++) deep = { deep };
    expect(JSON.stringify(redacted(deep as never))).toContain('[too deep]');
  });
});
