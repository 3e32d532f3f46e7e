import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { tokenExchangeOptions } from './config.ts';
import { createTokenExchange } from './strategy.ts';

const ADDRESS = 'outgoing-auth/token-exchange';

/** Strategy `token_exchange`: exchanges the caller's token for one that the backend accepts (RFC 8693). */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: "exchanges the caller's token for one that the backend accepts",
  contractKey: 'outgoingAuth.*.tokenExchange',
  config: z.strictObject({}),
  slotOptions: { token_exchange: tokenExchangeOptions },
  apply(core) {
    const strategy = createTokenExchange(core);
    core.slots.authStrategies.register('token_exchange', strategy);
    core.hooks.stopping.tapPromise(ADDRESS, () => strategy.close());
  },
});
