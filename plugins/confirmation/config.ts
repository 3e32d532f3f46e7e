import { z } from 'zod';

/** Keys and defaults. */
export const confirmationConfig = z.strictObject({
  cannotAsk: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe('calls of clients that do not support elicitation: refuse does not make them, allow makes them unasked'),
});
