import { hash } from 'node:crypto';
import type { Bucket, Call, Caller } from '@toolmgr/core';
import type { BucketConfig, RateLimitConfig } from './config.ts';

/** The buckets that a call takes from, all or none; `undefined` when it is not limited. */
export type BucketsOf = (call: Call) => readonly Bucket[] | undefined;

/** Buckets of one caller: those of the server, and by tool the same with the tool's own. */
interface Drawn {
  readonly server: readonly Bucket[] | undefined;
  readonly tools: ReadonlyMap<string, { readonly own: readonly Bucket[]; readonly all: readonly Bucket[] }>;
}

/**
 * Works out once per caller what a call takes from.
 *
 * Keys: `shared`, `shared:tool:TOOL`, `user:USER` and `user-tool:USER:TOOL`. USER is a SHA-256 of issuer and subject, so its
 * length is fixed and no caller can write the key of another; TOOL is a name of the configuration and stands last.
 * A tool counts under the name that clients see, however an inner call reached it. What only leads to others counts too.
 * The one call that `call_tool` makes has taken from the buckets of the server already; only the tool's own are left.
 */
export function bucketsOf(config: RateLimitConfig): BucketsOf {
  const { shared, perUser, tools } = config;
  const methods: ReadonlySet<string> = new Set(config.methods);
  const limitedTools: ReadonlySet<string> = new Set(tools.map(({ name }) => name));
  const isPersonal = perUser !== undefined || tools.some((tool) => tool.perUser !== undefined);
  const draw = (user: string): Drawn => {
    const server = [...sized('shared', shared), ...sized(`user:${user}`, perUser)];
    return {
      server: server.length === 0 ? undefined : server,
      tools: new Map(
        tools.map((tool) => {
          const own = [
            ...sized(`shared:tool:${tool.name}`, tool.shared),
            ...sized(`user-tool:${user}:${tool.name}`, tool.perUser),
          ];
          return [tool.name, { own, all: [...(methods.has('tools/call') ? server : []), ...own] }];
        }),
      ),
    };
  };
  const drawn = new WeakMap<Caller, Drawn>();
  const ofEverybody = isPersonal ? undefined : draw('');
  return ({ method, target, caller, parent }) => {
    const isLimitedTool = method === 'tools/call' && limitedTools.has(target.key);
    const isCounted = parent?.target.makesOneCall === true; // with its parent
    if (!isLimitedTool && (isCounted || !methods.has(method))) return undefined;
    let of = ofEverybody ?? drawn.get(caller);
    if (of === undefined) {
      of = draw(hash('sha256', caller.key, 'base64url'));
      drawn.set(caller, of);
    }
    if (!isLimitedTool) return of.server;
    const buckets = of.tools.get(target.key);
    return isCounted ? buckets?.own : buckets?.all;
  };
}

function sized(key: string, bucket: BucketConfig | undefined): Bucket[] {
  return bucket === undefined ? [] : [{ key, capacity: bucket.maxTokens, refillPeriodMs: bucket.refillPeriod }];
}
