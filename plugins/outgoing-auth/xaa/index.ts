import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { xaaOptions } from './config.ts';
import { createXaa } from './strategy.ts';

const ADDRESS = 'outgoing-auth/xaa';

/** Strategy `xaa`: cross-app access by an identity assertion (ID-JAG). */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary:
    "exchanges the caller's ID token for an assertion, and that for a token of the backend's authorization server",
  contractKey: 'outgoingAuth.*.xaa',
  config: z.strictObject({}),
  slotOptions: { xaa: xaaOptions },
  apply(core) {
    const strategy = createXaa(core);
    core.slots.authStrategies.register('xaa', strategy);
    core.hooks.stopping.tapPromise(ADDRESS, () => strategy.close());
  },
});
