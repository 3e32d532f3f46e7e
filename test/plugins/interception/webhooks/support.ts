import type { Era, JsonObject, Plugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import webhooks from '../../../../plugins/interception/webhooks/index.ts';
import type { WebhookServer } from '../../../support/webhook-server.ts';

/** The settings of a webhook on loopback without TLS. */
export function hook({ url }: Pick<WebhookServer, 'url'>, more: JsonObject = {}): JsonObject {
  return { name: 'hook', url, tls_config: { insecure_skip_verify: true }, ...more };
}

/** A gateway with these webhooks and one fake server, `far`, that echoes. */
export async function hooked(
  config: JsonObject,
  { plugins = [], far = farServer() }: { readonly plugins?: readonly Plugin[]; readonly far?: FakeServer } = {},
): Promise<TestGateway & { readonly far: FakeServer }> {
  const kit = await testGateway({
    plugins: [webhooks, ...plugins],
    plan: {
      name: 'hooked',
      plugins: [{ use: webhooks.address, with: config }, ...plugins.map(({ address }) => ({ use: address }))],
    },
    backends: { far },
  });
  return Object.assign(kit, { far });
}

/** One of everything that can be called. */
export function farServer(eras?: readonly Era[]): FakeServer {
  const far = fakeServer(eras).tool('echo').tool('other', 'other').prompt('plan', 'x').resource('memo://1', 'x');
  far.capabilities.completions = {};
  return far.on('completion/complete', () => ({ completion: { values: [] } }));
}

/** Params of the calls of a tool that reached the server. */
export function toolCalls({ received }: FakeServer): JsonObject[] {
  return received.filter(({ method }) => method === 'tools/call').map(({ params }) => params);
}
