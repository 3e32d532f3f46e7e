import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type BackendState, DEFAULT_LIMITS } from '@toolmgr/core';
import { fakeServer, testClient, testGateway, text } from '@toolmgr/core/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Catalog } from '../../../core/catalog/catalog.ts';
import { isLoopbackHost, type ListenOptions, type Served, serveGateway } from '../../../hosts/http/listen.ts';
import { statusRoutes } from '../../../hosts/http/status-routes.ts';
import { proves } from '../../support/proves.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.close(0);
  served = undefined;
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with the received method, URL and body. */
const echo: Handle = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ method: request.method, url: request.url, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
};

const serve = async (handle: Handle, options: Partial<ListenOptions> = {}): Promise<Served> => {
  served = await serveGateway({ handle }, { host: '127.0.0.1', port: 0, ...options });
  return served;
};

/** Writes bytes to the port and returns everything until the other side closes. */
const raw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

describe('the listener', () => {
  it.each([
    ['POST', '/mcp', 'application/json', '{"a":1}'],
    ['POST', '/mcp?x=1', 'text/plain', 'not json'],
    ['POST', '/elsewhere', ';;; no type', '{}'],
    ['DELETE', '/mcp', undefined, undefined],
    ['PUT', '/mcp', 'application/json', '{'],
    ['GET', '/%E2%82%AC/a%20b', undefined, undefined],
  ])('passes %s %s with type %s on unchanged', async (method, path, type, body) => {
    const { url } = await serve(echo);
    const answer = await fetch(url + path, {
      method,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      ...(body === undefined ? {} : { body }),
    });
    expect(await answer.json()).toEqual({ method, url: path, body: body ?? '' });
  });

  it('passes on everything except host routes, with unusual methods and targets too', async () => {
    const { port } = await serve(echo, { routes: [{ path: '/health', answer: () => ({ status: 200, body: {} }) }] });
    for (const line of ['PROPFIND /mcp', 'QUERY /mcp', 'OPTIONS *', 'POST /%zz', 'POST //']) {
      const [method = '', target = ''] = line.split(' ');
      const answer = await raw(port, `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(answer).toContain(`{"method":"${method}","url":"${target}"`);
    }
    expect(await raw(port, 'GET /health?now HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).toContain(
      '\r\n\r\n{}',
    );
  });

  it('does not read a body itself, even a long one', async () => {
    const { url } = await serve(echo);
    const body = 'x'.repeat(5_000_000);
    const answer = await fetch(`${url}/mcp`, { method: 'POST', body });
    expect(((await answer.json()) as { body: string }).body).toHaveLength(body.length);
  });

  it('has no time limit for a response and streams it', async () => {
    let finish: () => void = () => {};
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
      finish = () => response.end('data: last\n\n');
    });
    const answer = await fetch(`${url}/mcp`);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: first\n\n');
    finish();
    const last = await reader?.read();
    expect(Buffer.from(last?.value ?? []).toString()).toBe('data: last\n\n');
  });

  proves('choice.http.no-write-deadline', 'allows a call to take longer than 30 s', async () => {
    let server: Server | undefined;
    const watch = (message: unknown): void => {
      server = (message as { server: Server }).server;
    };
    subscribe('http.server.request.start', watch);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
    try {
      let finish: () => void = () => {};
      const slow = fakeServer().tool(
        'slow',
        () =>
          new Promise((done) => {
            finish = () => done(text('late'));
          }),
      );
      // only the configured timeout may cancel the call
      const plan = { timeouts: { defaultMs: 600_000 } };
      await using kit = await testGateway({ backends: { slow }, plan });
      const { url, port } = await serve((request, response) => kit.gateway.handle(request, response));
      const client = await testClient((request) => fetch(request), `${url}/mcp`);
      const calling = client.callTool('slow');
      await vi.waitFor(() => expect(kit.gateway.counts().callsInFlight).toBe(1), { interval: 1, timeout: 20_000 });
      await vi.advanceTimersByTimeAsync(120_000);
      finish();
      const answered = await calling;
      // Node's own timeouts use a clock that the test cannot move
      expect([server?.timeout, server?.requestTimeout]).toEqual([0, 0]);
      expect(answered).toMatchObject({ content: [{ text: 'late' }] });
      expect((server?.address() as AddressInfo).port).toBe(port);
    } finally {
      vi.useRealTimers();
      unsubscribe('http.server.request.start', watch);
    }
  });

  proves(
    ['ask.limit.header', 'choice.http.header-limit'],
    'answers 431 to a request head over its limit, and serves one below it',
    async () => {
      expect(DEFAULT_LIMITS.headerBytes).toBe(32 * 1024);
      const { port } = await serve(echo, { limits: { headerBytes: 2048 } });
      const head = (bytes: number) =>
        `GET /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-long: ${'a'.repeat(bytes)}\r\n\r\n`;
      expect(await raw(port, head(4000))).toMatch(/^HTTP\/1\.1 431 /);
      expect(await raw(port, head(1000))).toMatch(/^HTTP\/1\.1 200 /);
      const byDefault = await serveGateway({ handle: echo }, { host: '127.0.0.1', port: 0 });
      expect(await raw(byDefault.port, head(30_000))).toMatch(/^HTTP\/1\.1 200 /);
      expect(await raw(byDefault.port, head(DEFAULT_LIMITS.headerBytes + 1000))).toMatch(/^HTTP\/1\.1 431 /);
      await byDefault.close(0);
    },
  );

  it('reports a taken port and what to do', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    try {
      await expect(serve(echo, { port })).rejects.toMatchObject({
        code: 'LISTEN_FAILED',
        message: `port ${port} on 127.0.0.1 is taken by another program; find and stop it (lsof -nP -iTCP:${port} -sTCP:LISTEN), or choose another port (--port ${port + 1})`,
      });
    } finally {
      other.close();
    }
  });

  it('reports an address that the machine does not have', async () => {
    await expect(serve(echo, { host: '203.0.113.7' })).rejects.toThrow(/this machine has no address 203\.0\.113\.7/);
  });

  it('closes without waiting for idle connections, and cuts busy ones after the grace time', async () => {
    const { url, close } = await serve((_request, response) => void response.writeHead(200).write('x'));
    const answer = await fetch(`${url}/mcp`);
    const end = answer.text().then(
      () => 'ended',
      () => 'cut',
    );
    await close(50);
    expect(await end).toBe('cut');
    await expect(fetch(`${url}/mcp`)).rejects.toThrow();
  });

  it('waits for a response in flight', async () => {
    const { url, close } = await serve((_request, response) => {
      response.writeHead(200).write('one ');
      setTimeout(() => response.end('two'), 100);
    });
    const answer = await fetch(`${url}/mcp`);
    const [text] = await Promise.all([answer.text(), close(10_000)]);
    expect(text).toBe('one two');
  });

  it('closes when its signal aborts', async () => {
    const controller = new AbortController();
    const { url, close } = await serve(echo, { signal: controller.signal });
    controller.abort();
    await close();
    await expect(fetch(url)).rejects.toThrow();
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.0.1', false],
    ['127.example.org', false],
  ])('knows whether %s is loopback: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe('the status pages', () => {
  const state = (name: string, status: BackendState['status']): BackendState => ({
    backend: { name, transport: 'streamable-http', url: 'http://secret.internal/mcp' },
    status,
    era: status === 'ready' ? '2025-11-25' : undefined,
    cause: status === 'unavailable' ? { category: 'unreachable', message: 'connect ECONNREFUSED' } : undefined,
    sinceMs: 0,
    hello: undefined,
  });

  interface More {
    readonly settled?: Promise<void>;
    readonly mode?: 'static' | 'dynamic';
    readonly unready?: readonly string[];
    readonly isMonitored?: boolean;
    readonly catalog?: () => Catalog;
  }
  const serveStates = (states: BackendState[], more: More = {}) =>
    serve(echo, {
      allowedHosts: ['127.0.0.1'],
      routes: statusRoutes(
        {
          backends: () => states,
          catalog: () => more.catalog?.() ?? ({} as Catalog),
          settled: () => more.settled ?? Promise.resolve(),
          unready: () => more.unready ?? [],
        },
        {
          version: '1.2.3',
          groupRef: 'dev',
          mode: more.mode ?? 'static',
          authTypeOf: () => 'unauthenticated',
          ...(more.isMonitored === undefined ? {} : { isMonitored: more.isMonitored }),
        },
      ),
    });

  proves('choice.endpoint.health', '/health and /ping answer 200 independent of the backends', async () => {
    const { url } = await serveStates([state('a', 'unavailable')]);
    for (const path of ['/health', '/ping']) {
      const answer = await fetch(url + path);
      expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
    }
  });

  proves(
    ['choice.endpoint.status', 'choice.endpoint.status-headers', 'choice.endpoint.status-no-urls'],
    '/status shows health, transport, strategy and revision of each backend, and neither URLs nor error texts',
    async () => {
      const { url } = await serveStates([state('a', 'ready'), state('b', 'unavailable'), state('c', 'unknown')]);
      const answer = await fetch(`${url}/status`);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const one = { transport: 'streamable-http', auth_type: 'unauthenticated' };
      expect(await answer.json()).toEqual({
        healthy: true,
        version: '1.2.3',
        group_ref: 'dev',
        backends: [
          { name: 'a', health: 'healthy', ...one, mcp_revision: '2025-11-25' },
          { name: 'b', health: 'unhealthy', ...one },
          { name: 'c', health: 'unknown', ...one },
        ],
      });
    },
  );

  it('/status is not healthy without one healthy backend', async () => {
    const { url } = await serveStates([state('a', 'unavailable')]);
    expect(await (await fetch(`${url}/status`)).json()).toMatchObject({ healthy: false });
  });

  proves('choice.endpoint.status', '/status answers HEAD without a body and refuses other methods', async () => {
    const { url } = await serveStates([]);
    const head = await fetch(`${url}/status`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await fetch(`${url}/status`, { method: 'POST', body: '{}' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  proves('choice.endpoint.readyz', '/readyz is ready at once for listed backends', async () => {
    const { url } = await serveStates([], { settled: new Promise(() => {}) });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready', mode: 'static' }]);
  });

  proves('choice.endpoint.readyz-backends', '/readyz is 503 while a required backend is unavailable', async () => {
    const { url } = await serveStates([state('a', 'unavailable')], { unready: ['a'] });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not_ready', mode: 'static', reason: 'backends_unavailable', backends: ['a'] },
    ]);
  });

  proves(
    'choice.endpoint.readyz-catalogue',
    '/readyz is 503 while there is no catalogue, without the reason',
    async () => {
      const catalog = (): Catalog => {
        throw new Error('"secret_tool" of a and b');
      };
      for (const mode of ['static', 'dynamic'] as const) {
        const { url } = await serveStates([state('a', 'ready')], { catalog, mode });
        const answer = await fetch(`${url}/readyz`);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          { status: 'not_ready', mode, reason: 'catalogue_unavailable' },
        ]);
      }
    },
  );

  const watched = (name: string, health: Partial<NonNullable<BackendState['health']>>): BackendState => ({
    ...state(name, 'ready'),
    health: {
      status: 'healthy',
      consecutiveFailures: 0,
      checkedMs: Date.UTC(2026, 0, 2),
      errorCategory: undefined,
      sinceMs: Date.UTC(2026, 0, 1),
      ...health,
    },
  });

  proves(
    ['choice.endpoint.backends-health', 'choice.endpoint.one-health'],
    '/api/backends/health and /status show the results of the monitor, and neither URLs nor error texts',
    async () => {
      const failing = { status: 'unhealthy', consecutiveFailures: 4, errorCategory: 'timeout' } as const;
      const breaker = { state: 'open', sinceMs: Date.UTC(2026, 0, 1) } as const;
      const states = [watched('a', {}), watched('b', { ...failing, breaker }), watched('c', { status: 'degraded' })];
      const { url } = await serveStates(states, { isMonitored: true });
      const answer = await fetch(`${url}/api/backends/health`);
      const text = await answer.text();
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/secret|ECONN/);
      const times = { lastHealthCheck: '2026-01-02T00:00:00.000Z', lastTransitionTime: '2026-01-01T00:00:00.000Z' };
      const closed = { consecutiveFailures: 0, circuitBreakerState: '', mcpRevision: '2025-11-25', ...times };
      expect(JSON.parse(text)).toEqual({
        monitoring_enabled: true,
        summary: { total: 3, healthy: 1, degraded: 1, unhealthy: 1, unknown: 0, unauthenticated: 0 },
        backends: {
          a: { status: 'healthy', ...closed },
          b: {
            ...closed,
            status: 'unhealthy',
            consecutiveFailures: 4,
            lastErrorCategory: 'timeout',
            circuitBreakerState: 'open',
            circuitLastChanged: '2026-01-01T00:00:00.000Z',
          },
          c: { status: 'degraded', ...closed },
        },
      });
      const { backends } = (await (await fetch(`${url}/status`)).json()) as { backends: { health: string }[] };
      expect(backends.map(({ health }) => health)).toEqual(['healthy', 'unhealthy', 'degraded']);
    },
  );

  proves(
    'choice.endpoint.backends-health',
    '/api/backends/health works without a monitor and reports that',
    async () => {
      const { url } = await serveStates([state('a', 'ready'), state('b', 'unauthenticated')]);
      expect(await (await fetch(`${url}/api/backends/health`)).json()).toMatchObject({
        monitoring_enabled: false,
        summary: { total: 2, healthy: 1, unauthenticated: 1 },
        backends: { a: { status: 'healthy', consecutiveFailures: 0 }, b: { status: 'unauthenticated' } },
      });
      expect((await fetch(`${url}/api/backends/health`, { method: 'HEAD' })).status).toBe(200);
      expect((await fetch(`${url}/api/backends/health`, { method: 'DELETE' })).status).toBe(405);
    },
  );

  it('/readyz waits for the first backends of a group', async () => {
    let settle: () => void = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const { url } = await serveStates([], { settled, mode: 'dynamic' });
    const early = await fetch(`${url}/readyz`);
    expect([early.status, await early.json()]).toEqual([
      503,
      { status: 'not_ready', mode: 'dynamic', reason: 'cache_sync_pending' },
    ]);
    settle();
    const late = await fetch(`${url}/readyz`);
    expect([late.status, await late.json()]).toEqual([200, { status: 'ready', mode: 'dynamic' }]);
  });

  it('is protected against DNS rebinding', async () => {
    const { port } = await serveStates([state('a', 'ready')]);
    const answer = await raw(port, 'GET /status HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).not.toContain('"name"');
  });
});
