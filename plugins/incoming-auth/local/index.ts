import { definePlugin, STAGE } from '@toolmgr/core';
import { z } from 'zod';
import { createLocalCaller } from './local-caller.ts';

const ADDRESS = 'incoming-auth/local';

/** Identifies callers on this machine as the operating-system user that runs the gateway. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'identifies callers on this machine as the operating-system user that runs the gateway',
  config: z.strictObject({}),
  apply(core) {
    const identify = createLocalCaller();
    // late: other authenticators run before
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.late }, identify);
  },
});
