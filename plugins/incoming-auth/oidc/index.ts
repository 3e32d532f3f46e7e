import { type Core, definePlugin, STAGE } from '@toolmgr/core';
import { unknownNames } from '@toolmgr/plugins/kit/settings';
import { createAuthenticator } from './authenticator.ts';
import { oidcConfig } from './config.ts';
import type { ToolScopes } from './tool-scopes.ts';

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
    const { toolScopes } = authenticator;
    if (toolScopes !== undefined) requireScopes(core, toolScopes);
  },
});

/** After policies: another token does not help against their refusals. */
function requireScopes({ hooks }: Pick<Core, 'hooks'>, toolScopes: ToolScopes): void {
  const last = { name: ADDRESS, stage: STAGE.last };
  hooks.authorize.tap(last, (call) => toolScopes.refusal(call));
  const wanted = toolScopes.names.map((name) => ({ place: `${ADDRESS}: toolScopes`, kind: 'tool', name }) as const);
  hooks.shapeCatalog.tap(last, (draft, inputs) => {
    const warnings = unknownNames(draft, inputs, wanted);
    return warnings.length === 0 ? draft : { ...draft, warnings: [...draft.warnings, ...warnings] };
  });
}
