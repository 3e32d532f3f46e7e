import { fakeServer, testGateway } from '@toolmgr/core/testing';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { afterEach, expect, it } from 'vitest';
import { LOOPBACK_NAMES, type Served, serveGateway } from '../../../hosts/http/listen.ts';
import { pageRoutes } from '../../../hosts/workloads/proxy/page-routes.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';

let served: Served | undefined;
afterEach(() => served?.close(0));

const PATHS = ['/', '/api/endpoint', '/page.json'];

/** Status and text of the page of a workload with this configuration. */
async function pagesOf(more: Partial<RunConfig>) {
  await using gateway = await testGateway({ backends: { one: fakeServer().tool('echo', 'hello') } });
  const routes = pageRoutes(gateway.gateway, workloadConfigOf('one', more));
  served = await serveGateway(gateway.gateway, { host: '127.0.0.1', port: 0, routes, allowedHosts: LOOPBACK_NAMES });
  const { url } = served;
  const pages = await Promise.all(PATHS.map((path) => fetch(url + path, { headers: { accept: 'text/html' } })));
  const texts = await Promise.all(pages.map((page) => page.text()));
  await served.close(0);
  return { statuses: pages.map(({ status }) => status), text: texts.join('\n') };
}

it('the page of a workload shows its tools on loopback when everyone may call', async () => {
  const { statuses, text } = await pagesOf({});
  expect(statuses).toEqual([200, 200, 200]);
  expect(text).toContain('"key":"echo"');
});

it.each<[string, Partial<RunConfig>]>([
  ['on another address', { host: '0.0.0.0' }],
  ['with authentication', { oidc_config: { issuer: 'https://id.example.com' } as RunConfig['oidc_config'] }],
  ['with policies', { authz_config: {} as RunConfig['authz_config'] }],
  ['with a plugin that may authenticate callers', { plugins: [{ use: './own.ts' }] as RunConfig['plugins'] }],
])('the page of a workload only says what the address is %s', async (_, more) => {
  const { statuses, text } = await pagesOf(more);
  expect(statuses).toEqual([200, 404, 404]);
  expect(text).toContain('an MCP endpoint');
  expect(text).not.toMatch(/echo|<script|<style/);
});
