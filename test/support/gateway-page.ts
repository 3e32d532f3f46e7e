import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import type { Browser, Page } from 'playwright-core';
import { gatewayPageRoutes } from '../../hosts/http/gateway-page.ts';
import { LOOPBACK_NAMES, serveGateway } from '../../hosts/http/listen.ts';
import { createCallFeed } from '../../hosts/http/recent-calls/feed.ts';
import { recentCallsPlugin } from '../../hosts/http/recent-calls/plugin.ts';
import { freshPage } from './browser.ts';

/** The page of one endpoint in a browser, and what the browser reports about it. */
export interface GatewayPage extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly url: string;
  readonly page: Page;
  /** Errors of scripts and messages of the console. */
  readonly faults: readonly string[];
  /** Requests to other hosts. */
  readonly foreign: readonly string[];
  /** Opens a place such as `playground?name=add`. */
  open(place: string): Promise<unknown>;
}

/** Serves a gateway with `backends` and its page, and opens the page. */
export async function openGatewayPage(browser: Browser, backends: TestBackends): Promise<GatewayPage> {
  const feed = createCallFeed();
  const gateway = await testGateway({ backends, plugins: [recentCallsPlugin(feed)] });
  const served = await serveGateway(gateway.gateway, {
    host: '127.0.0.1',
    port: 0,
    routes: gatewayPageRoutes({
      gateway: () => gateway.gateway,
      ...{ feed, mcpPath: '/mcp' },
      authTypeOf: (name) => (name === 'one' ? 'header_injection' : 'unauthenticated'),
    }),
    allowedHosts: LOOPBACK_NAMES,
  });
  const faults: string[] = [];
  const foreign: string[] = [];
  const page = await freshPage(browser);
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(served.url) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  return {
    gateway,
    url: served.url,
    page,
    faults,
    foreign,
    open: (place) => page.goto(`${served.url}/#/${place}`),
    [Symbol.asyncDispose]: async () => {
      await page.context().close();
      await served.close(0);
      await gateway[Symbol.asyncDispose]();
    },
  };
}
