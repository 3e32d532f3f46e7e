import { definePlugin } from '@toolmgr/core';
import { createAuthenticator } from './authenticator.ts';
import { oidcConfig } from './config.ts';

const ADDRESS = 'incoming-auth/oidc';

/** Authenticates callers with bearer tokens of an OpenID Connect provider. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'authenticates callers with bearer tokens of an OpenID Connect provider',
  contractKey: 'incomingAuth.oidc',
  config: oidcConfig,
  apply(core, config) {
    const authenticator = createAuthenticator(core, config);
    core.hooks.mount.tap(ADDRESS, (routes) => authenticator.mount(routes));
    core.hooks.starting.tapPromise(ADDRESS, async () => authenticator.start());
    core.hooks.stopping.tapPromise(ADDRESS, async () => authenticator.close());
    // two taps: a cached token is checked synchronously
    core.hooks.authenticate.tap(ADDRESS, (inbound) => authenticator.known(inbound));
    core.hooks.authenticate.tapPromise(`${ADDRESS}/verify`, async (inbound) => authenticator.verify(inbound));
  },
});
