import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { createForwardHeaders, forwardHeadersOptions } from './strategy.ts';

const ADDRESS = 'outgoing-auth/forward-headers';

/** Strategy `forward_headers`: fixed headers and a bearer token on every request to the backend, after another strategy. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'puts fixed headers and a bearer token on every request to a backend, after another strategy',
  config: z.strictObject({}),
  slotOptions: { forward_headers: forwardHeadersOptions },
  apply(core) {
    core.slots.authStrategies.register('forward_headers', createForwardHeaders(core.slots));
  },
});
