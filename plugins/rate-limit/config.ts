import { z } from 'zod';
import { goDuration } from '../shared/go-duration.ts';

/** Source: vmcp spec §2 rateLimiting, Bucket. */
const bucket = z.strictObject({
  maxTokens: z.int().min(1).max(2_147_483_647).describe('tokens of a full bucket: the largest burst'),
  refillPeriod: goDuration.describe('Go duration from empty to full; the rate is maxTokens in that time'),
});

/** A bucket as it was configured; the period in milliseconds. */
export type BucketConfig = z.output<typeof bucket>;

const tool = z.strictObject({
  name: z.string().min(1, 'expected a name that is not empty').describe('name that clients see'),
  shared: bucket.optional().describe('one bucket for this tool'),
  perUser: bucket.optional().describe('one bucket for this tool and each user'),
});

/** The methods that are calls. Lists and subscriptions are free. */
const METHODS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'] as const;

/** Keys and defaults of the contract; below the line what is ours. */
export const rateLimitConfig = z.strictObject({
  shared: bucket.optional().describe('one bucket for all users'),
  perUser: bucket.optional().describe('one bucket for each user; needs authentication'),
  tools: z
    .array(tool)
    .superRefine((tools, context) => {
      tools.forEach(({ name }, index) => {
        if (tools.findIndex((other) => other.name === name) === index) return;
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `${name} stands twice` });
      });
    })
    .default([])
    .describe('further limits of single tools; a call must pass these and those of the server'),
  // ours
  methods: z
    .array(z.enum(METHODS))
    .min(1)
    .default(['tools/call'])
    .describe('what takes from shared and perUser; tools[] always counts tools/call alone'),
  onStoreFailure: z
    .enum(['open', 'closed'])
    .default('open')
    .describe('calls while the store is away: open lets them pass unlimited, closed refuses them'),
  store: z.string().min(1).default('memory').describe('name in the slot `stores`: memory, redis'),
});

/** What the plugin was told. */
export type RateLimitConfig = z.output<typeof rateLimitConfig>;

/** Whether there is a bucket per user anywhere. */
export function hasUserBuckets({ perUser, tools }: RateLimitConfig): boolean {
  return perUser !== undefined || tools.some((each) => each.perUser !== undefined);
}
