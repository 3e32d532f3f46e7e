import { hash } from 'node:crypto';
import type { Bucket, Call, Caller } from '@toolmgr/core';
import type { BucketConfig, RateLimitConfig } from './config.ts';

/** The buckets of a call; `undefined` when it is not limited. */
export type BucketsOf = (call: Call) => readonly Bucket[] | undefined;

/** Buckets of one caller: of the server, and per tool its own ones and all together. */
interface CallerBuckets {
  readonly server: readonly Bucket[] | undefined;
  readonly tools: ReadonlyMap<string, { readonly own: readonly Bucket[]; readonly all: readonly Bucket[] }>;
}

/**
 * Computes the buckets once per caller.
 *
 * Keys: `shared`, `shared:tool:TOOL`, `user:USER` and `user-tool:USER:TOOL`. USER is a SHA-256 of issuer and subject, so it
 * has a fixed length and no caller can build the key of another; TOOL is a configured name and comes last. A tool counts
 * under its advertised name, also for inner calls. Dispatchers count too. The call that `call_tool` makes takes only from
 * the tool's own buckets, because `call_tool` has taken from the others.
 */
export function bucketsOf(config: RateLimitConfig): BucketsOf {
  const { shared, perUser, tools } = config;
  const methods: ReadonlySet<string> = new Set(config.methods);
  const limitedTools: ReadonlySet<string> = new Set(tools.map(({ name }) => name));
  const isPersonal = perUser !== undefined || tools.some((tool) => tool.perUser !== undefined);
  const bucketsForUser = (user: string): CallerBuckets => {
    const server = [...bucketFrom('shared', shared), ...bucketFrom(`user:${user}`, perUser)];
    return {
      server: server.length === 0 ? undefined : server,
      tools: new Map(
        tools.map((tool) => {
          const own = [
            ...bucketFrom(`shared:tool:${tool.name}`, tool.shared),
            ...bucketFrom(`user-tool:${user}:${tool.name}`, tool.perUser),
          ];
          return [tool.name, { own, all: [...(methods.has('tools/call') ? server : []), ...own] }];
        }),
      ),
    };
  };
  const byCaller = new WeakMap<Caller, CallerBuckets>();
  const sharedBuckets = isPersonal ? undefined : bucketsForUser('');
  return ({ method, target, caller, parent }) => {
    const isLimitedTool = method === 'tools/call' && limitedTools.has(target.key);
    const isCounted = parent?.target.makesOneCall === true; // with its parent
    if (!isLimitedTool && (isCounted || !methods.has(method))) return undefined;
    let of = sharedBuckets ?? byCaller.get(caller);
    if (of === undefined) {
      of = bucketsForUser(hash('sha256', caller.subjectKey ?? caller.key, 'base64url'));
      byCaller.set(caller, of);
    }
    if (!isLimitedTool) return of.server;
    const buckets = of.tools.get(target.key);
    return isCounted ? buckets?.own : buckets?.all;
  };
}

function bucketFrom(key: string, bucket: BucketConfig | undefined): Bucket[] {
  return bucket === undefined ? [] : [{ key, capacity: bucket.maxTokens, refillPeriodMs: bucket.refillPeriod }];
}
