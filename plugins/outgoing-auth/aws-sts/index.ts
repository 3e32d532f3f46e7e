import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { awsStsOptions } from './config.ts';
import { createAwsSts } from './strategy.ts';

const ADDRESS = 'outgoing-auth/aws-sts';

/** Strategy `aws_sts`: exchanges the caller's token for credentials of an AWS role and signs requests with them. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: "exchanges the caller's token for credentials of an AWS role and signs requests with them",
  contractKey: 'outgoingAuth.*.awsSts',
  config: z.strictObject({}),
  slotOptions: { aws_sts: awsStsOptions },
  apply(core) {
    const strategy = createAwsSts(core);
    core.slots.authStrategies.register('aws_sts', strategy);
    core.hooks.stopping.tapPromise(ADDRESS, () => strategy.close());
  },
});
