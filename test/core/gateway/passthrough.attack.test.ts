import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Authorizer, definePlugin } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { modernRequest } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { type Got, httpBackend, httpServer, legacyAnswers, modernAnswers } from '../backend/support.ts';

/** A strategy whose authorizer is given. */
function strategyOf(authorizer: Authorizer) {
  return definePlugin({
    address: 'testing/strategy',
    config: z.strictObject({}),
    apply: (core) => core.slots.authStrategies.register('testing', { prepare: async () => authorizer }),
  });
}

/** A gateway on a real port that passes some headers on, and a client that writes the bytes of its requests itself. */
async function passing(
  passthroughHeaders: readonly string[],
  { authorizer = { apply() {} } as Authorizer, modern = true } = {},
) {
  const make = modern ? modernAnswers : legacyAnswers;
  const far = await httpServer(make());
  const kit = await testGateway({
    plugins: [strategyOf(authorizer)],
    plan: {
      plugins: [{ use: 'testing/strategy' }],
      outgoingAuth: { default: { type: 'testing' } },
      passthroughHeaders: [...passthroughHeaders],
    },
    backends: { far: httpBackend(far.url) },
  });
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const server = createServer({ maxHeaderSize: 65_536 }, (request, response) => kit.gateway.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Calls `echo` with these header lines as they stand; gives the status line and body. */
  const call = async (...lines: readonly string[]): Promise<string> => {
    const { body, headers } = modernRequest('tools/call', { name: 'echo', arguments: {} });
    const text = JSON.stringify(body);
    const head = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${Buffer.byteLength(text)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(lines.some((line) => /^connection:/i.test(line)) ? [] : ['Connection: close']),
      ...lines,
    ];
    return exchanged(port, `${head.join('\r\n')}\r\n\r\n${text}`);
  };
  const calls = (): Got[] => far.of('tools/call');
  return { call, calls, kit, far };
}

function exchanged(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
    socket.setTimeout(10_000, () => reject(new Error('no end of the answer')));
  });
}

/** Everything of a request but what HTTP itself says. */
function ownHeaders({ headers }: Got): Record<string, unknown> {
  const { host: _h, connection: _c, 'content-length': _l, 'content-type': _t, accept: _a, ...rest } = headers;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('mcp-')));
}

describe('headers of clients on their way to backends', () => {
  for (const modern of [true, false]) {
    proves(
      'vmcp.config.passthrough-headers',
      `arrive unchanged when they are allowed, and only then (${modern ? 'modern' : 'legacy'} backend)`,
      async () => {
        const { call, calls } = await passing(['X-Tenant', 'x-trace'], { modern });
        expect(await call('x-TENANT: blue; v="1"', 'X-Other: no', 'X-Trace: \xe4\xf6')).toMatch(/^HTTP\/1.1 200/);
        expect(await call('X-Other: no')).toMatch(/^HTTP\/1.1 200/);
        expect(calls().map(ownHeaders)).toEqual([{ 'x-tenant': 'blue; v="1"', 'x-trace': '\xe4\xf6' }, {}]);
      },
    );
  }

  proves(
    'choice.passthrough.underscores',
    "cannot be smuggled under another spelling, twice, or next to what is the gateway's own",
    async () => {
      const { call, calls, far } = await passing(['X-Tenant']);
      await call('X-Tenant: a', 'x-tenant: b');
      await call('X_Tenant: a', 'X-Tenant: b');
      await call('X-Forwarded-For: 6.6.6.6', 'Forwarded: for=6.6.6.6', 'X-Real-IP: 6.6.6.6', 'Via: evil');
      await call('Authorization: Bearer client-secret', 'Cookie: sid=1', 'Proxy-Authorization: Basic x');
      await call('Mcp-Session-Id: stolen', 'Last-Event-ID: 1');
      expect(calls().map(ownHeaders)).toEqual([{ 'x-tenant': 'a, b' }, { 'x-tenant': 'b' }, {}, {}, {}]);
      expect(far.all.some(({ headers }) => headers['mcp-session-id'] === 'stolen')).toBe(false);
    },
  );

  proves('choice.passthrough.connection-listed', 'stay on their hop when Connection lists them', async () => {
    const { call, calls } = await passing(['X-Tenant', 'X-Trace']);
    await call('X-Tenant: blue', 'X-Trace: 1', 'Connection: close, X-Tenant');
    await call('X-Tenant: blue', 'X-Trace: 1', 'Connection: x-tenant', 'Connection: close, x-trace');
    expect(calls().map(ownHeaders)).toEqual([{ 'x-trace': '1' }, {}]);
  });

  proves('choice.passthrough.credentials', 'never become two headers, whatever their value is', async () => {
    const { call, calls, far } = await passing(['X-Tenant']);
    for (const value of ['a\nX-Evil: 1', 'a\rX-Evil: 1', 'a\0b', 'a\x01b', 'a\x7fb']) {
      expect(await call(`X-Tenant: ${value}`), JSON.stringify(value)).toMatch(/^HTTP\/1.1 (400|200)/);
    }
    // a real line break is two headers of the client; the second is not allowed
    await call('X-Tenant: a', 'X-Evil: 1');
    for (const { headers } of far.all) {
      expect(Object.keys(headers)).not.toContain('x-evil');
      const value = String(headers['x-tenant'] ?? '');
      expect([...value].filter((letter) => letter < ' ' || letter === '\x7f')).toEqual([]);
    }
    expect(calls().at(-1)?.headers['x-tenant']).toBe('a');
  });

  proves('choice.passthrough.credentials', 'that are too long for a backend fail their own call only', async () => {
    const { call, calls } = await passing(['X-Tenant']);
    const long = await call(`X-Tenant: ${'a'.repeat(40_000)}`);
    expect(long).toMatch(/^HTTP\/1.1 200/);
    expect(long).toMatch(/backend \\"far\\" (responded with HTTP 431|closed the connection)/);
    expect(await call('X-Tenant: short')).toContain('"text":"modern"');
    expect(calls().map(ownHeaders)).toEqual([{ 'x-tenant': 'short' }]);
    expect(await call(`X-Tenant: ${'a'.repeat(70_000)}`)).toMatch(/^HTTP\/1.1 431/);
  });

  proves(
    'choice.passthrough.strategy-wins',
    'never take the place of what a strategy sets, and cannot be allowed when it says so beforehand',
    async () => {
      const setsTenant: Authorizer = { apply: ({ headers }) => void Object.assign(headers, { 'x-tenant': 'own' }) };
      const { call, calls } = await passing(['X-Tenant'], { authorizer: setsTenant });
      await call('X-Tenant: client');
      expect(calls().map(ownHeaders)).toEqual([{ 'x-tenant': 'own' }]);
      const announced = { ...setsTenant, headerNames: ['x-tenant'] };
      await expect(passing(['X-TENANT'], { authorizer: announced })).rejects.toMatchObject({
        code: 'PLAN_INVALID',
        message: 'passthroughHeaders: x-tenant is set by outgoingAuth.default and cannot be passed through',
      });
    },
  );
});
