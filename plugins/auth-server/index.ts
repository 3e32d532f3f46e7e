import { definePlugin, GatewayFault, type RouteTable, STAGE } from '@toolmgr/core';
import {
  signInChanged,
  tokenIssuers,
  type UpstreamTokens,
  upstreamTokens,
} from '@toolmgr/plugins/kit/extension-points';

import { type AuthServer, openAuthServer } from './auth-server.ts';
import { authServerConfig, primaryOf } from './config.ts';
import { connectTool } from './connect-tool.ts';
import type { SignInReport } from './report.ts';

const ADDRESS = 'auth-server';

/** An OAuth 2.1 authorization server for this gateway: people sign in at upstream identity providers. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'signs people in at upstream identity providers and issues the tokens that clients send',
  contractKey: 'authServerConfig',
  config: authServerConfig,
  apply({ backends, hook, hooks, slots, slot, log, now, server: gateway }, config) {
    let opened: AuthServer | undefined;
    let table: RouteTable | undefined;
    const server = (): AuthServer => {
      if (opened === undefined) throw new GatewayFault('PLAN_INCOMPLETE', `${ADDRESS} was used before its start`);
      return opened;
    };
    slot(tokenIssuers).register(config.issuer, {
      audiences: config.allowedAudiences,
      keys: () => server().issuer.keys(),
      isWithdrawn: (claims) => server().issuer.isWithdrawn(claims),
    });
    const tokens: UpstreamTokens = {
      providers: config.upstreamProviders.map(({ name }) => name),
      primary: primaryOf(config),
      isInjectionDisabled: config.disableUpstreamTokenInjection,
      known: (caller, provider) => server().upstreamTokens.known(caller, provider),
      obtain: (caller, provider, signal, need) => server().upstreamTokens.obtain(caller, provider, signal, need),
      refused: (caller, provider) => server().upstreamTokens.refused(caller, provider),
      signInAgain: (caller, provider) => server().upstreamTokens.signInAgain(caller, provider),
    };
    slot(upstreamTokens).register(ADDRESS, tokens);
    const onDemand = config.upstreamProviders.filter(({ loginPolicy }) => loginPolicy === 'onDemand');
    if (config.connectTool && onDemand.length > 0) {
      const names = onDemand.map(({ name }) => name);
      const entry = connectTool(ADDRESS, names, tokens);
      hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.late }, (draft) => ({
        ...draft,
        tools: [...draft.tools, entry],
      }));
    }
    hooks.mount.tap(ADDRESS, (routes) => {
      table = routes;
    });
    hooks.starting.tapPromise(ADDRESS, async () => {
      const report = (change: SignInReport): void => hook(signInChanged).call({ ...change, atMs: now() });
      opened = await openAuthServer({ backends, slots, log, now, server: gateway, report }, config);
      if (table !== undefined) opened.mount(table); // the routes need the keys, which are read now
    });
    hooks.stopping.tapPromise(ADDRESS, async () => opened?.close());
  },
});
