import { definePlugin, STAGE } from '@toolmgr/core';
import { z } from 'zod';
import { createLocalCaller } from './local-caller.ts';

const ADDRESS = 'incoming-auth/local';

/** Everybody on this machine is the operating-system user that runs the gateway. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'takes everybody on this machine for the operating-system user that runs the gateway',
  config: z.strictObject({}),
  apply(core) {
    const identify = createLocalCaller();
    // late: another plugin that knows the caller, or refuses one, is asked before
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.late }, identify);
  },
});
