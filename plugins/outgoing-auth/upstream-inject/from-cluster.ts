import { type FromCluster, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const schema = z.strictObject({ providerName: text(63).describe('upstream provider whose token is sent') });

export const externalAuth: FromCluster['externalAuth'] = {
  upstreamInject: { order: 7, schema: schema.describe('sends the token that an upstream provider issued') },
};
