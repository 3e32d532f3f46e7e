import { z } from 'zod';

/** A call as the API shows it and as the proxies write it: the members of `RecentCall`. */
export const recentCall = z.strictObject({
  seq: z.int().describe('grows by one with every call'),
  id: z.string().describe('the same for a call and the calls that it made'),
  isInner: z.boolean(),
  startedMs: z.number().describe('epoch milliseconds'),
  durationMs: z.number(),
  method: z.string(),
  name: z.string(),
  original: z.string().optional(),
  backend: z.string(),
  caller: z.string(),
  client: z.string().optional(),
  outcome: z.string(),
  detail: z.string().optional(),
  resultBytes: z.int(),
});
