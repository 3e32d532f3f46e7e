import type { Section } from '../../resolve/context.ts';
import { mountPassword, prefixOf, tellReplicas } from '../../resolve/session-storage.ts';
import { withoutUndefined } from '../../resolve/strategy.ts';
import type { ProxyContext, ProxyFacts } from './proxy-context.ts';

/** What the run configuration says of sessions and rate limits. */
export interface Sessions {
  readonly scaling_config?: Section;
  /** The section of a vmcp file. */
  readonly rateLimiting?: Section;
}

/** Session storage and rate limits. */
export async function sessionsOf({ spec, replicas }: ProxyFacts, context: ProxyContext): Promise<Sessions> {
  const { findings } = context;
  const { sessionStorage: storage, rateLimiting } = spec;
  const isShared = storage?.provider === 'redis';
  tellReplicas(replicas ?? 1, isShared, context);
  if (rateLimiting !== undefined) {
    // the rules of the CRD say the same, for objects that are older than the rule
    if (!isShared)
      findings.fail(
        'RateLimitConfigValid',
        'RateLimitNeedsRedis',
        'spec.rateLimiting needs spec.sessionStorage with provider redis',
      );
    else findings.tell('RateLimitConfigValid', 'True', 'RateLimitConfigValid', 'spec.rateLimiting is valid');
  }
  if (!isShared) return {};
  if (storage.passwordRef !== undefined) {
    await mountPassword(storage.passwordRef, 'spec.sessionStorage.passwordRef', context);
  }
  const { address, db } = storage;
  const key_prefix = storage.keyPrefix ?? prefixOf(context);
  const redis = withoutUndefined({ address, db: db === 0 ? undefined : db, key_prefix });
  const limits = rateLimiting === undefined ? {} : { rateLimiting: { ...(rateLimiting as Section), store: 'redis' } };
  return { scaling_config: { session_redis: redis }, ...limits };
}
