import type { Section } from '../../resolve/context.ts';
import { withoutUndefined } from '../../resolve/strategy.ts';
import type { ProxyContext, ProxyFacts } from './proxy-context.ts';

/** Source: vmcp spec §2 `config.sessionStorage`. */
const PASSWORD = 'TOOLMGR_SESSION_REDIS_PASSWORD';

/** What the run configuration says of sessions and rate limits. */
export interface Sessions {
  readonly scaling_config?: Section;
  /** Settings of the plugin `rate-limit`. */
  readonly rateLimit?: Section;
}

/** Session storage and rate limits. */
export async function sessionsOf({ spec, replicas }: ProxyFacts, context: ProxyContext): Promise<Sessions> {
  const { findings, pod } = context;
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
    const found = await pod.fixedEnv(PASSWORD, storage.passwordRef, 'spec.sessionStorage.passwordRef');
    if ('problem' in found) findings.fail('AuthConfigured', 'AuthInvalid', found.problem, 'SecretValidationFailed');
  }
  const { address, db } = storage;
  // the name alone is not unique in a Redis that several namespaces use
  const prefix = storage.keyPrefix ?? `toolmgr:${context.namespace}:${context.name}:`;
  const redis = withoutUndefined({ address, db: db === 0 ? undefined : db, key_prefix: prefix });
  const rateLimit = rateLimiting === undefined ? {} : { rateLimit: { ...(rateLimiting as Section), store: 'redis' } };
  return { scaling_config: { session_redis: redis }, ...rateLimit };
}

/** Several proxies without shared sessions work only with session affinity. */
function tellReplicas(replicas: number, isShared: boolean, { findings }: ProxyContext): void {
  const tell = (status: 'True' | 'False', reason: string, message: string): void =>
    findings.tell('SessionStorageWarning', status, reason, message);
  if (replicas <= 1) return tell('False', 'SessionStorageWarningNotApplicable', 'there is at most one replica');
  if (isShared) return tell('False', 'SessionStorageConfigured', 'sessions are in Redis');
  const message = `${replicas} replicas do not share sessions; set spec.sessionStorage with provider redis`;
  tell('True', 'SessionStorageMissingForReplicas', message);
}
