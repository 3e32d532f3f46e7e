import { isObject } from '@toolmgr/core';
import type { Context, Section } from './context.ts';
import type { SecretKey } from './lookups.ts';
import { secretRefs } from './secret-refs.ts';
import { withoutUndefined } from './strategy.ts';

/**
 * `sessionStorage` of the vmcp file: of the spec, else of `spec.config`, else the Redis of the installation.
 *
 * `undefined`: a check failed.
 */
export async function sessionStorageOf(context: Context): Promise<{ readonly section?: Section } | undefined> {
  const { spec, defaults } = context;
  const section = sectionOf(context);
  tellReplicas(spec.replicas ?? 1, section?.provider === 'redis', context);
  const { passwordRef } = spec.sessionStorage ?? {};
  const usesDefault = spec.sessionStorage === undefined && !isObject(spec.config?.sessionStorage);
  if (spec.sessionStorage === undefined && !(await mountSecrets(context, section, 'spec.config.sessionStorage'))) {
    return undefined;
  }
  const password = usesDefault ? defaults.redis?.password : passwordRef;
  if (password === undefined || section?.provider !== 'redis') return section === undefined ? {} : { section };
  const by = usesDefault ? 'the Redis of the installation' : 'spec.sessionStorage.passwordRef';
  return (await mountPassword(password, by, context)) ? { section } : undefined;
}

/** Every secret that the section at `place` names becomes a file of the pod. Returns whether all are there. */
export async function mountSecrets({ pod, findings }: Parts, section: unknown, place: string): Promise<boolean> {
  const refs = secretRefs(section, place);
  const values = await Promise.all(refs.map(({ path, name, key }) => pod.secretFile({ name, key }, path)));
  const problems = values.flatMap((value) => ('problem' in value ? [value.problem] : []));
  if (problems.length === 0) return true;
  findings.fail('AuthConfigured', 'AuthInvalid', problems.join('; '), 'SecretValidationFailed');
  return false;
}

function sectionOf(context: Context): Section | undefined {
  const { spec, defaults } = context;
  const keyPrefix = prefixOf(context);
  const given = spec.sessionStorage;
  if (given !== undefined) {
    if (given.provider === 'memory') return { provider: 'memory' };
    const { provider, address, db } = given;
    return withoutUndefined({
      provider,
      address,
      db: db === 0 ? undefined : db,
      keyPrefix: given.keyPrefix ?? keyPrefix,
    });
  }
  const inConfig = spec.config?.sessionStorage;
  if (isObject(inConfig)) return inConfig.provider === 'redis' ? { keyPrefix, ...inConfig } : inConfig;
  return defaults.redis === undefined ? undefined : { provider: 'redis', address: defaults.redis.address, keyPrefix };
}

/** Several pods without shared sessions work only with session affinity. */
export function tellReplicas(replicas: number, isShared: boolean, { findings }: Pick<Context, 'findings'>): void {
  const tell = (status: 'True' | 'False', reason: string, message: string): void =>
    findings.tell('SessionStorageWarning', status, reason, message);
  if (replicas <= 1) return tell('False', 'SessionStorageWarningNotApplicable', 'there is at most one replica');
  if (isShared) return tell('False', 'SessionStorageConfigured', 'sessions are in Redis');
  const message = `${replicas} replicas do not share sessions; set spec.sessionStorage with provider redis`;
  tell('True', 'SessionStorageMissingForReplicas', message);
}

/** Gives the pod the password of Redis. Returns whether there is one. */
export async function mountPassword(key: SecretKey, by: string, { pod, findings }: Parts): Promise<boolean> {
  const found = await pod.fixedEnv('TOOLMGR_SESSION_REDIS_PASSWORD', key, by); // vmcp spec §2 `config.sessionStorage`
  if ('name' in found) return true;
  findings.fail('AuthConfigured', 'AuthInvalid', found.problem, 'SecretValidationFailed');
  return false;
}

type Parts = Pick<Context, 'pod' | 'findings'>;

/** The name alone is not unique in a Redis that several namespaces use. */
export function prefixOf({ name, namespace }: Pick<Context, 'name' | 'namespace'>): string {
  return `toolmgr:${namespace}:${name}:`;
}
