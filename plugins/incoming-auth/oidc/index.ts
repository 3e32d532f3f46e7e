import { definePlugin } from '@toolmgr/core';
import { createDoor } from './authenticator.ts';
import { oidcConfig } from './config.ts';

const ADDRESS = 'incoming-auth/oidc';

/** Knows callers by the bearer tokens of an OpenID Connect provider. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'knows callers by the bearer tokens of an OpenID Connect provider',
  contractKey: 'incomingAuth.oidc',
  config: oidcConfig,
  apply(core, config) {
    const door = createDoor(core, config);
    core.hooks.mount.tap(ADDRESS, (routes) => door.mount(routes));
    core.hooks.starting.tapPromise(ADDRESS, async () => door.open());
    core.hooks.stopping.tapPromise(ADDRESS, async () => door.close());
    // two taps: a token that is known costs no turn of the event loop
    core.hooks.authenticate.tap(ADDRESS, (inbound) => door.known(inbound));
    core.hooks.authenticate.tapPromise(`${ADDRESS}/verify`, async (inbound) => door.verify(inbound));
  },
});
