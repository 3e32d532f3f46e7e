import { ANONYMOUS, definePlugin, STAGE } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'incoming-auth/anonymous';

/** Accepts every request as one anonymous caller. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'accepts every request as one anonymous caller',
  config: z.strictObject({}),
  apply(core) {
    // last: other authenticators run before
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.last }, () => ANONYMOUS);
  },
});
