import { webhookList } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

/** Keys of the contract's run configuration. Source: workload API spec §2 Webhook; run reference §8.4. */
export const webhooksConfig = z
  .strictObject({
    mutating: webhookList.default([]).describe('asked first, in this order; each may change the call'),
    validating: webhookList.default([]).describe('asked in this order; the first that denies ends the call'),
    transport: z
      .enum(['stdio', 'sse', 'streamable-http'])
      .default('streamable-http')
      .describe('transport of the server, as the payload says it'),
  })
  .refine(({ mutating, validating }) => mutating.length + validating.length > 0, {
    message: 'expected at least one webhook in mutating or validating',
  });

/** The parsed configuration. */
export type WebhooksConfig = z.output<typeof webhooksConfig>;
