import { definePlugin, GatewayFault, STAGE } from '@toolmgr/core';
import { unknownNames } from '@toolmgr/plugins/kit/settings';
import { hasUserBuckets, rateLimitConfig } from './config.ts';
import { createLimiter } from './limiter.ts';

const ADDRESS = 'rate-limit';
const ANONYMOUS_AUTH = 'incoming-auth/anonymous';

/** Token buckets for all users, each user and single tools. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'limits calls by token buckets for all users, each user and single tools',
  contractKey: 'rateLimiting',
  config: rateLimitConfig,
  apply(core, config) {
    const { hooks } = core;
    const limiter = createLimiter(core, config);
    hooks.limit.tapPromise(ADDRESS, async (call) => limiter.check(call));
    const wanted = config.tools.map(
      ({ name }, index) => ({ place: `${ADDRESS}: tools[${index}].name`, kind: 'tool', name }) as const,
    );
    hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, (draft, inputs) => {
      const warnings = unknownNames(draft, inputs, wanted);
      return warnings.length === 0 ? draft : { ...draft, warnings: [...draft.warnings, ...warnings] };
    });
    hooks.starting.tap(ADDRESS, () => {
      if (hasUserBuckets(config) && hooks.authenticate.tapNames().every((name) => name === ANONYMOUS_AUTH)) {
        throw new GatewayFault(
          'PLAN_INVALID',
          `${ADDRESS}: perUser needs authentication, but only incoming-auth/anonymous is configured`,
        );
      }
      limiter.start();
    });
    hooks.stopping.tap(ADDRESS, limiter.stop);
  },
});
