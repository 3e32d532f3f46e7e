import { get } from 'node:http';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { defaultPageRoutes } from '../../../hosts/http/default-page.ts';
import { gatewayPageRoutes } from '../../../hosts/http/gateway-page.ts';
import { LOOPBACK_NAMES, type Served, serveGateway } from '../../../hosts/http/listen.ts';
import { type PageAccess, pageAccess } from '../../../hosts/http/page-access.ts';
import { createCallFeed } from '../../../hosts/http/recent-calls/feed.ts';
import { recentCallsPlugin } from '../../../hosts/http/recent-calls/plugin.ts';

let served: Served | undefined;
afterEach(() => served?.close(0));

async function serve(access?: () => PageAccess | undefined) {
  const feed = createCallFeed();
  const server = fakeServer().tool('echo', 'hello', { title: 'Echo', description: 'Says it again' });
  const gateway = await testGateway({ backends: { one: server }, plugins: [recentCallsPlugin(feed)] });
  const page = { gateway: () => gateway.gateway, feed, mcpPath: '/mcp' };
  served = await serveGateway(gateway.gateway, {
    host: '127.0.0.1',
    port: 0,
    routes: gatewayPageRoutes(access === undefined ? page : { ...page, access }),
    allowedHosts: LOOPBACK_NAMES,
  });
  const { url } = served;
  return { gateway, get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }) };
}

describe('the page that a host serves by itself', () => {
  test('is for browsers and text for others, and other sites cannot read it', async () => {
    const { get, gateway, state } = await serveDefault();
    expect(await (await get('/')).text()).toBe(
      `toolmgr: an MCP endpoint (Model Context Protocol). Clients use ${served?.url}/mcp\nPages in a browser may connect from this address, and from MCP Inspector (http://localhost:6274) or from the configured origins\n  one: ready, 1 tool\nTools and configuration for clients, in a browser: ${served?.url}/\n`,
    );
    expect(await (await get('/', { accept: 'text/html' })).text()).toContain('/assets/');
    expect((await get('/api/endpoint')).status).toBe(200);
    expect((await get('/api/calls')).status).toBe(404);
    const foreign = await get('/api/endpoint', { origin: 'https://evil.example' });
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    expect((await get('/api/endpoint', { origin: 'http://localhost:5173' })).status).toBe(403);
    expect((await get('/api/endpoint', { origin: served?.url ?? '' })).status).toBe(200);
    expect(await statusWithHost('rebound.example', '/api/endpoint')).toBe(403);

    state.isOpen = false;
    for (const accept of ['*/*', 'text/html']) {
      const page = await get('/', { accept });
      expect(page.status).toBe(200);
      const body = await page.text();
      expect(body).toContain('/mcp');
      expect(body).not.toMatch(/one|echo|<script|<style/);
    }
    for (const path of ['/api/endpoint', '/page.json', '/assets/a.js']) expect((await get(path)).status).toBe(404);
    await gateway[Symbol.asyncDispose]();
  });
});

async function serveDefault() {
  const gateway = await testGateway({ backends: { one: fakeServer().tool('echo', 'hello') } });
  const state = { isOpen: true };
  served = await serveGateway(gateway.gateway, {
    host: '127.0.0.1',
    port: 0,
    routes: defaultPageRoutes({ gateway: () => gateway.gateway, mcpPath: '/mcp', isOpen: () => state.isOpen }),
    allowedHosts: LOOPBACK_NAMES,
  });
  const { url } = served;
  return {
    gateway,
    state,
    get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
  };
}

/** `fetch` sets the Host itself. */
function statusWithHost(host: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const port = served?.port;
    get({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

describe('the page of one endpoint', () => {
  test('is served with its files, and says what it offers', async () => {
    const { get, gateway } = await serve();
    const html = { accept: 'text/html' };
    const page = await get('/', html);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const [, script = ''] = /src="\.?(\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
    const loaded = await get(script);
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')]);
    expect(loaded.headers.get('cache-control')).toContain('immutable');
    const again = await get('/', { ...html, 'if-none-match': page.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect((await get('/assets/nothere.js')).status).toBe(404);
    expect(await (await get('/page.json')).json()).toEqual({
      views: ['endpoint', 'playground', 'calls'],
      signIn: 'none',
      readOnly: true,
      endpoint: { view: '/api/endpoint', calls: '/api/calls', mcp: '/mcp' },
    });
    await gateway[Symbol.asyncDispose]();
  });

  test('shows the names of the tools and where they come from', async () => {
    const { get, gateway } = await serve();
    const view = (await (await get('/api/endpoint')).json()) as { entries: unknown; backends: unknown };
    expect(view.entries).toEqual([
      {
        kind: 'tool',
        key: 'echo',
        original: 'echo',
        backend: 'one',
        title: 'Echo',
        description: 'Says it again',
        shapedBy: [],
      },
    ]);
    expect(view.backends).toMatchObject([{ name: 'one', status: 'ready' }]);
    await gateway[Symbol.asyncDispose]();
  });

  test('asks for the token of the status pages, and shows nothing without it', async () => {
    const access = pageAccess('a-token');
    const { get, gateway } = await serve(() => access);
    for (const path of ['/api/endpoint', '/api/calls', '/api/calls/stream']) expect((await get(path)).status).toBe(401);
    expect((await get('/api/endpoint', { authorization: 'Bearer a-token' })).status).toBe(200);
    expect(await (await get('/page.json')).json()).toMatchObject({ signIn: 'token' });
    await gateway[Symbol.asyncDispose]();
  });

  test('is not served where another listener serves it', async () => {
    const { get, gateway } = await serve(() => 'elsewhere');
    for (const path of ['/', '/page.json', '/assets/a.js', '/api/endpoint']) expect((await get(path)).status).toBe(404);
    await gateway[Symbol.asyncDispose]();
  });
});
