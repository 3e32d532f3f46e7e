import { definePlugin, STAGE } from '@toolmgr/core';
import { createWebhooks } from './ask-webhooks.ts';
import { webhooksConfig } from './config.ts';

const ADDRESS = 'interception/webhooks';

/** Asks HTTP services about calls: mutating webhooks may change them, validating ones may deny them. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'asks HTTP services about calls: they may change or deny them',
  config: webhooksConfig,
  apply(core, config) {
    const webhooks = createWebhooks(core, ADDRESS, config);
    // late: webhooks see a call as the other plugins leave it
    core.hooks.rewriteCall.tapPromise({ name: ADDRESS, stage: STAGE.late }, async (asked) => {
      const call = await webhooks.mutate(asked);
      // a step of a composite tool is not authorized again, but its arguments are new
      if ('refused' in call || call.parent === undefined) return call;
      return (await webhooks.validate(call)) ?? call;
    });
    // early: before policies (run reference §3.1). Inner calls of known tools were asked about above.
    core.hooks.authorize.tapPromise({ name: ADDRESS, stage: STAGE.early }, async (call) =>
      call.parent === undefined || call.target.isMissing ? webhooks.validate(call) : undefined,
    );
    core.hooks.starting.tapPromise(ADDRESS, () => webhooks.start());
    core.hooks.stopping.tapPromise(ADDRESS, () => webhooks.stop());
  },
});
