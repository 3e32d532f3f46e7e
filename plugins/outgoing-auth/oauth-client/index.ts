import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { oauthClientOptions } from './config.ts';
import { createOauthClient } from './strategy.ts';

const ADDRESS = 'outgoing-auth/oauth-client';

/** Strategy `oauth_client`: sends the access token of a login at the remote server, and refreshes it. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'sends the access token of a login at a remote server, and refreshes it',
  config: z.strictObject({}),
  slotOptions: { oauth_client: oauthClientOptions },
  apply(core) {
    const strategy = createOauthClient(core);
    core.slots.authStrategies.register('oauth_client', strategy);
    core.hooks.stopping.tapPromise(ADDRESS, () => strategy.close());
  },
});
