import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { upstreamInjectOptions } from './config.ts';
import { createUpstreamInject } from './strategy.ts';

/** Strategy `upstream_inject`: sends the access token that the caller got from an upstream provider. */
export default definePlugin({
  address: 'outgoing-auth/upstream-inject',
  stability: 'stable',
  summary: 'sends the access token that the caller got from an upstream provider at the sign-in',
  contractKey: 'outgoingAuth.*.upstreamInject',
  config: z.strictObject({}),
  slotOptions: { upstream_inject: upstreamInjectOptions },
  apply(core) {
    core.slots.authStrategies.register('upstream_inject', createUpstreamInject(core));
  },
});
