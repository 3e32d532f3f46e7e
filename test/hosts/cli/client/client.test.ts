import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JsonObject, mirroredHeaders } from '@toolmgr/core';
import { afterAll, describe, expect, it } from 'vitest';
import { unknownArguments } from '../../../../hosts/cli/client/unknown-arguments.ts';
import { argumentsFrom } from '../../../../hosts/shared/client/arguments.ts';
import { connect } from '../../../../hosts/shared/client/mcp-client.ts';
import { cli } from '../../../support/cli.ts';
import { proves } from '../../../support/proves.ts';
import { recordingServer } from '../../../support/recording-server.ts';

const server = await recordingServer();
afterAll(() => server[Symbol.asyncDispose]());

const call = (...args: string[]) => cli(['call', ...args, '--url', server.url]);

describe('toolmgr tools and toolmgr call', () => {
  proves('ask.cli.call-pairs', 'call a tool with key=value, read as the schema of the tool says', async () => {
    expect(await call('echo', 'message=5 apples')).toMatchObject({ code: 0, out: 'echo: 5 apples\n', err: '' });
    expect(await call('echo', 'message=5')).toMatchObject({ code: 0, out: 'echo: 5\n' });
    expect(await call('add', 'a=1', 'b=2.5')).toMatchObject({ code: 0, out: '3.5\n' });
    expect(await call('add', '--args', '{"a":1,"b":1}', 'b=9')).toMatchObject({ code: 0, out: '10\n' });
  });

  it('warn of an argument that the tool does not have', async () => {
    expect(await call('echo', 'message=x', 'mesage=y')).toMatchObject({
      code: 0,
      out: 'echo: x\n',
      err: 'warning echo has no argument mesage, did you mean message?\n',
    });
    const schema = { type: 'object', properties: { message: {}, count: {} } };
    const warned = (args: JsonObject, more: JsonObject = {}) => unknownArguments('echo', args, { ...schema, ...more });
    expect(warned({ zzzz: 1, count: 2 })).toEqual(['echo has no argument zzzz (it has message, count)']);
    expect(warned({ mesage: 1 }, { additionalProperties: false })).toHaveLength(1);
    for (const open of [{ additionalProperties: true }, { additionalProperties: {} }, { anyOf: [] }])
      expect(warned({ mesage: 1 }, open)).toEqual([]);
    expect(unknownArguments('echo', { mesage: 1 }, { type: 'object' })).toEqual([]);
  });

  it('exit with 5 when the tool failed, and print its text', async () => {
    expect(await call('fail')).toMatchObject({
      code: 5,
      out: 'it broke\n',
      err: expect.stringContaining('the tool failed'),
    });
    expect(await call('add', '--args', '{"a":"x"}')).toMatchObject({ code: 5 });
  });

  it('exit with 1 and say what to do when they are used wrongly or the endpoint does not answer', async () => {
    expect(await call('echo', 'message')).toMatchObject({ code: 1, err: expect.stringContaining('not key=value') });
    expect(await call('add', 'a=one')).toMatchObject({
      code: 1,
      err: expect.stringContaining('a: expected number, got "one"'),
    });
    expect(await call('echo', '--args', '{')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--args is not JSON'),
    });
    expect(await cli(['tools', '--url', 'http://127.0.0.1:9/mcp'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/nothing answers at http:\/\/127\.0\.0\.1:9\/mcp; start a gateway/),
    });
    expect(await cli(['tools', '--url', 'ftp://x'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('not an http(s) URL'),
    });
  });

  it('print JSON with --format json', async () => {
    const tools = JSON.parse((await cli(['tools', '--url', server.url, '--format', 'json'])).out) as { name: string }[];
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'add', 'fail', 'slow']);
    const result = await call('echo', 'message=x', '--format', 'json');
    expect(JSON.parse(result.out)).toMatchObject({ content: [{ type: 'text', text: 'echo: x' }] });
  });

  it('take the URL from TOOLMGR_URL and send headers', async () => {
    const ended = await cli(['call', 'echo', 'message=x', '--header', 'X-Mine: yes'], {
      env: { TOOLMGR_URL: server.url },
    });
    expect(ended.code).toBe(0);
    expect(server.calls.at(-1)?.['x-mine']).toBe('yes');
  });

  it('time out after --timeout without an answer', async () => {
    expect(await call('slow', '--timeout', '300ms')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/was silent for 0\.3 s; --timeout/),
    });
  });
});

describe('their MCP client', () => {
  const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const DISCOVERED = { ...COMPLETE, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const TOOL = { name: 'listed', inputSchema: { type: 'object' } };
  const servers: Server[] = [];
  afterAll(() => {
    for (const one of servers) one.close();
  });

  /** A server that answers every message with a function. */
  const answering = async (
    answer: (
      message: { method: string; id?: unknown; params: Record<string, unknown> },
      headers: Record<string, unknown>,
    ) => {
      status?: number;
      body?: unknown;
      sse?: unknown[];
      headers?: Record<string, string>;
      /** Closes the connection before the answer is complete. */
      cut?: boolean;
    },
  ): Promise<string> => {
    const http = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        const { status = 200, body, sse, headers, cut } = answer(JSON.parse(text), request.headers);
        const type = sse === undefined ? 'application/json' : 'text/event-stream';
        response.writeHead(status, { 'content-type': type, ...headers });
        for (const event of sse ?? []) response.write(`event: message\r\ndata: ${JSON.stringify(event)}\r\n\r\n`);
        if (cut === true) return void setTimeout(() => response.destroy(), 50);
        response.end(body === undefined ? undefined : JSON.stringify(body));
      });
    });
    servers.push(http);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  };

  proves(
    'ask.call.exit-codes',
    'call ends with 12 for a tool that is not there, with and without a list, and with 5 for a call that is refused, as the help says',
    async () => {
      expect(await call('ecko')).toMatchObject({ code: 12, err: expect.stringContaining('did you mean echo?') });
      const errors: Readonly<Record<string, { readonly code: number; readonly message: string }>> = {
        'tools/list': { code: -32603, message: 'the list would be incomplete' },
        absent: { code: -32602, message: 'unknown tool: tool "absent" not found' },
        gone: { code: -32602, message: 'Tool gone not found' },
        refused: { code: 403, message: 'denied by policy' },
        wrong: { code: -32602, message: 'arguments do not fit' },
      };
      const url = await answering(({ id, method, params }) => {
        const error = errors[String(method)] ?? errors[String(params?.name)];
        return { body: { jsonrpc: '2.0', id, ...(error === undefined ? { result: DISCOVERED } : { error }) } };
      });
      const codeOf = async (name: string) => (await cli(['call', name, '--url', url])).code;
      expect(await Promise.all(['absent', 'gone', 'refused', 'wrong'].map(codeOf))).toEqual([12, 12, 5, 5]);
      const { out } = await cli(['call', '--help']);
      expect(out.replace(/\s+/g, ' ')).toContain(
        '5 the tool failed, or the endpoint refused the call; 10 it is not there, and backends that may have it are not ready; 12 there is no such tool',
      );
    },
  );

  it('waits for a listed tool whose backend is still starting, and ends with 10 when the time is over', async () => {
    const starting = 'backend "slow" is still starting, 3 s so far; retry later (BACKEND_STARTING)';
    let called = 0;
    const url = await answering(({ id, method }) => {
      if (method === 'tools/list') return { body: { jsonrpc: '2.0', id, result: { ...COMPLETE, tools: [TOOL] } } };
      if (method !== 'tools/call') return { body: { jsonrpc: '2.0', id, result: DISCOVERED } };
      called++;
      const text = called % 2 === 1 ? starting : 'here';
      const result = { resultType: 'complete', content: [{ type: 'text', text }], isError: text === starting };
      return { body: { jsonrpc: '2.0', id, result } };
    });
    expect(await cli(['call', 'listed', '--url', url])).toMatchObject({ code: 0, out: 'here\n' });
    expect(called).toBe(2);
    expect(await cli(['call', 'listed', '--url', url, '--wait', '0s'])).toMatchObject({
      code: 10,
      out: `${starting}\n`,
    });
    expect(called).toBe(3);
  });

  it('prints the error of a list, calls without a list, and prints the time to wait', async () => {
    const list = { code: -32603, message: 'the list would be incomplete; missing: dead (refused)' };
    const limit = { code: 429, message: 'rate limit exceeded', data: { retryAfterSeconds: 7 } };
    const url = await answering(({ id, method, params }) => {
      const failing = { 'tools/list': list, 'tools/call': limit }[method as 'tools/list' | 'tools/call'];
      if (params?.name === 'well')
        return { body: { jsonrpc: '2.0', id, result: { content: [], resultType: 'complete' } } };
      if (failing !== undefined) return { body: { jsonrpc: '2.0', id, error: failing } };
      return { body: { jsonrpc: '2.0', id, result: DISCOVERED } };
    });
    const listed = await cli(['tools', '--url', url]);
    expect(listed).toMatchObject({ code: 1, out: '' });
    expect(listed.err).toBe(`toolmgr: ${url} answers: ${list.message} (-32603)\n`);
    expect(await cli(['call', 'well', '--url', url])).toMatchObject({ code: 0 });
    expect(await cli(['call', 'other', '--url', url])).toMatchObject({
      code: 5,
      err: 'failed rate limit exceeded (429), try again in 7 s\n',
    });
  });

  it('prints the error of the first request in one line', async () => {
    const error = { code: -32600, message: 'the host read the body before the gateway' };
    const url = await answering(() => ({ status: 500, body: { jsonrpc: '2.0', id: null, error } }));
    for (const args of [['tools'], ['call', 'echo']]) {
      const failed = await cli([...args, '--url', url]);
      expect(failed).toMatchObject({ code: 1, err: `toolmgr: ${url} answers: ${error.message} (-32600)\n` });
    }
  });

  it('uses the stateless revision if the server supports it: envelope, headers, mirrored arguments, progress', async () => {
    const seen: { method: string; params: Record<string, unknown>; headers: Record<string, unknown> }[] = [];
    const tool = {
      name: 'find',
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    };
    const url = await answering((message, headers) => {
      seen.push({ method: message.method, params: message.params, headers });
      const reply = (result: object) => ({ jsonrpc: '2.0', id: message.id, result });
      if (message.method === 'server/discover') return { body: reply(DISCOVERED) };
      if (message.method === 'tools/list') return { body: reply({ ...COMPLETE, tools: [tool] }) };
      const meta = message.params._meta as Record<string, unknown>;
      return {
        sse: [
          {
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken: meta.progressToken, progress: 1, total: 2 },
          },
          reply({ content: [], resultType: 'complete' }),
        ],
      };
    });
    const client = await connect(url, { timeoutMs: 5_000 });
    const progress: unknown[] = [];
    const [found = {}] = await client.listTools();
    const result = await client.callTool(found, { region: 'Köln' }, (told) => progress.push(told.progress));
    await client.close();
    expect([client.revision, result.resultType, progress]).toEqual(['2026-07-28', 'complete', [1]]);
    expect(seen.at(-1)?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'find',
      'mcp-param-region': '=?base64?S8O2bG4=?=',
    });
    expect(seen.at(-1)?.params).toMatchObject({
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
    });
  });

  it('opens a session with a 2025-11-25 server, reads every page, and ends the session', async () => {
    const seen: string[] = [];
    const url = await answering((message) => {
      seen.push(message.method);
      if (message.method === 'server/discover') return { status: 400, body: { error: 'no' } };
      if (message.id === undefined) return { status: 202 };
      const cursor = message.params?.cursor;
      const result = {
        initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'old', version: '1' } },
        'tools/list': {
          tools: [{ name: cursor ?? 'first' }],
          ...(cursor === undefined ? { nextCursor: 'second' } : {}),
        },
      }[message.method];
      return { body: { jsonrpc: '2.0', id: message.id, result } };
    });
    const client = await connect(url, { timeoutMs: 5_000 });
    expect([client.revision, client.server]).toEqual(['2025-06-18', { name: 'old', version: '1' }]);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['first', 'second']);
    await client.close();
    expect(seen).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list', 'tools/list']);
  });

  it('opens a session when an old server fails on server/discover', async () => {
    const url = await answering((message) => {
      if (message.method === 'server/discover') return { status: 500, body: 'TypeError' };
      if (message.id === undefined) return { status: 202 };
      const initialized = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'old', version: '1' },
      };
      return { body: { jsonrpc: '2.0', id: message.id, result: initialized } };
    });
    const client = await connect(url, { timeoutMs: 5_000 });
    expect(client.revision).toBe('2025-11-25');
    await client.close();
  });

  it('returns results with all their members, and refuses invalid results', async () => {
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'x', more: 1 }], more: { of: 'it' } };
    const url = await answering(({ id, method, params }) => {
      if (method === 'server/discover') return { body: { jsonrpc: '2.0', id, result: DISCOVERED } };
      return { body: { jsonrpc: '2.0', id, result: params.name === 'well' ? result : { content: 'none' } } };
    });
    const client = await connect(url, { timeoutMs: 5_000 });
    expect(await client.callTool({ name: 'well' }, {})).toEqual(result);
    await expect(client.callTool({ name: 'badly' }, {})).rejects.toThrow(
      /sent a result that MCP does not allow: Invalid result for tools\/call: missing required resultType/,
    );
    await client.close();
  });

  it('fails when the stream ends without the answer', async () => {
    const url = await answering(({ id, method, params }) => {
      if (method === 'server/discover') return { body: { jsonrpc: '2.0', id, result: DISCOVERED } };
      return { sse: [{ jsonrpc: '2.0', method: 'notifications/message', params: {} }], cut: params.name === 'breaks' };
    });
    const client = await connect(url, { timeoutMs: 500 });
    await expect(client.callTool({ name: 'ends' }, {})).rejects.toThrow(/was silent for 0\.5 s/);
    await expect(client.callTool({ name: 'breaks' }, {})).rejects.toThrow(/cannot be reached \(UND_ERR_SOCKET\)/);
    await client.close();
  });

  it('distinguishes a refused caller from a refused call', async () => {
    const error = { code: -32001, message: 'denied by policy' };
    const url = await answering(({ id, method, params }) => {
      if (method === 'server/discover') return { body: { jsonrpc: '2.0', id, result: DISCOVERED } };
      const challenge = 'Bearer error="invalid_token", error_description="the token \\"x\\" ended"';
      if (params.name === 'late') return { status: 401, body: {}, headers: { 'www-authenticate': challenge } };
      return { status: 403, body: { jsonrpc: '2.0', id, error } };
    });
    const client = await connect(url, { timeoutMs: 5_000 });
    await expect(client.callTool({ name: 'x' }, {})).rejects.toMatchObject({ name: 'RpcError', ...error });
    await expect(client.callTool({ name: 'late' }, {})).rejects.toThrow(
      /refuses this caller \(HTTP 401: the token "x" ended\); pass credentials/,
    );
    await client.close();
  });

  it.each([
    [401, /refuses this caller \(HTTP 401\); pass credentials/],
    [404, /is not an MCP endpoint \(HTTP 404/],
    [200, /is not an MCP endpoint \(HTTP 200/],
  ])('reports an endpoint that answers %d', async (status, sentence) => {
    const url = await answering(() => ({ status, body: 'hello' }));
    await expect(connect(url, { timeoutMs: 5_000 })).rejects.toThrow(sentence);
  });

  it('mirrors nested arguments, and nothing that is absent or null', () => {
    const inputSchema = {
      properties: {
        a: { type: 'integer', 'x-mcp-header': 'A' },
        b: { properties: { c: { type: 'boolean', 'x-mcp-header': 'C' } } },
        d: { type: 'string', 'x-mcp-header': 'D' },
        e: { type: 'string', 'x-mcp-header': 'E' },
      },
    };
    expect(mirroredHeaders({ name: 't', inputSchema }, { a: 42, b: { c: true }, d: null })).toEqual({
      'mcp-param-a': '42',
      'mcp-param-c': 'true',
    });
  });

  it.each([
    [{ properties: { n: { type: 'integer' } } }, 'n=5', { n: 5 }],
    [{ properties: { n: { type: 'number' } } }, 'n=5', { n: 5 }],
    [{ properties: { n: { type: 'string' } } }, 'n=5', { n: '5' }],
    [{ properties: { n: { type: ['string', 'integer'] } } }, 'n=5', { n: 5 }],
    [{ properties: { n: { type: 'array' } } }, 'n=[1,2]', { n: [1, 2] }],
    [{ properties: { n: { type: 'boolean' } } }, 'n=true', { n: true }],
    [undefined, 'n=5', { n: 5 }],
    [undefined, 'n=05', { n: '05' }],
    [undefined, 'n=a=b', { n: 'a=b' }],
    [undefined, 'n=', { n: '' }],
  ])('reads the pair for %j %s', (schema, pair, args) => {
    expect(argumentsFrom(undefined, [pair], schema)).toEqual(args);
  });
});
