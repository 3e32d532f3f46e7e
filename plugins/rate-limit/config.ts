import { goDuration, uniqueNames } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

/** Calls that the gateway forwards in every revision. */
const METHODS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'] as const;

/** Source: vmcp spec §2 rateLimiting, Bucket. */
const bucket = z.strictObject({
  maxTokens: z.int().min(1).max(2_147_483_647).describe('tokens of a full bucket, which is the largest burst'),
  refillPeriod: goDuration.describe('Go duration in which an empty bucket fills; the rate is maxTokens per this time'),
});

/** A configured bucket; the period in milliseconds. */
export type BucketConfig = z.output<typeof bucket>;

const tool = z.strictObject({
  name: z.string().min(1, 'expected a name that is not empty').describe('name that clients see'),
  shared: bucket.optional().describe('one bucket for this tool'),
  perUser: bucket.optional().describe('one bucket for this tool and each user'),
});

/** Keys and defaults of the contract; the keys after `tools` are extensions. */
export const rateLimitConfig = z.strictObject({
  shared: bucket.optional().describe('one bucket for all users'),
  perUser: bucket.optional().describe('one bucket for each user; needs authentication'),
  tools: z
    .array(tool)
    .superRefine(uniqueNames)
    .default([])
    .describe('additional limits of single tools; a call must pass these and the limits of the server'),
  // extensions
  methods: z
    .array(z.enum(METHODS))
    .min(1)
    .default(['tools/call'])
    .describe('methods that take from shared and perUser; tools[] counts only tools/call'),
  onStoreFailure: z
    .enum(['open', 'closed'])
    .default('open')
    .describe('calls while the store is unavailable: open allows them without limit, closed refuses them'),
  // without a default: in a cluster the API server would write it into the object, in place of the store of the file
  store: z
    .string()
    .min(1)
    .optional()
    .describe('name in the slot `stores`: memory, redis; by default that of `sessionStorage`, else memory'),
});

/** The parsed configuration. */
export type RateLimitConfig = z.output<typeof rateLimitConfig>;

/** Whether any bucket is per user. */
export function hasUserBuckets({ perUser, tools }: RateLimitConfig): boolean {
  return perUser !== undefined || tools.some((each) => each.perUser !== undefined);
}
