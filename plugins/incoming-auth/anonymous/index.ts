import { ANONYMOUS, definePlugin, STAGE } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'incoming-auth/anonymous';

/** Lets every request in as one anonymous caller. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'lets every request in as one anonymous caller',
  config: z.strictObject({}),
  apply(core) {
    // last: another plugin that knows the caller, or refuses one, is asked before
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.last }, () => ANONYMOUS);
  },
});
