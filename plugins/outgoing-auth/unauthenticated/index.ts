import { type Authorizer, type AuthStrategy, definePlugin, explainIssues, GatewayFault } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'outgoing-auth/unauthenticated';

const options = z.strictObject({});

const NO_CREDENTIAL: Authorizer = { apply: () => {}, headerNames: [] };

const unauthenticated: AuthStrategy = {
  async prepare(given, where) {
    const read = options.safeParse(given ?? {});
    if (read.success) return NO_CREDENTIAL;
    throw new GatewayFault('AUTH_STRATEGY_INVALID', explainIssues(where, options, read.error).join('\n'));
  },
};

/** Strategy `unauthenticated`: sends no credential to the backend. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'sends no credential to a backend',
  config: z.strictObject({}),
  slotOptions: { unauthenticated: options },
  apply(core) {
    core.slots.authStrategies.register('unauthenticated', unauthenticated);
  },
});
