import { isObject } from '@toolmgr/core';
import type { Context, Section } from './context.ts';
import { secretRefs } from './secret-refs.ts';
import { withoutUndefined } from './strategy.ts';

const CONDITION = 'SessionStorageWarning';
/** Source: vmcp spec §2 `config.sessionStorage`. */
const PASSWORD = 'TOOLMGR_SESSION_REDIS_PASSWORD';

/**
 * `sessionStorage` of the vmcp file: of the spec, else of `spec.config`, else the Redis of the installation.
 *
 * `undefined`: a check failed.
 */
export async function sessionStorageOf(context: Context): Promise<{ readonly section?: Section } | undefined> {
  const { spec, pod, findings, defaults } = context;
  const section = sectionOf(context);
  tellReplicas(context, section);
  const { passwordRef } = spec.sessionStorage ?? {};
  const usesDefault = spec.sessionStorage === undefined && !isObject(spec.config?.sessionStorage);
  const problem = spec.sessionStorage === undefined ? await mountSecrets(context, section) : undefined;
  if (problem !== undefined) {
    findings.fail('AuthConfigured', 'AuthInvalid', problem, 'SecretValidationFailed');
    return undefined;
  }
  const password = usesDefault ? defaults.redis?.password : passwordRef;
  if (password === undefined || section?.provider !== 'redis') return section === undefined ? {} : { section };
  const by = usesDefault ? 'the Redis of the installation' : 'spec.sessionStorage.passwordRef';
  const found = await pod.fixedEnv(PASSWORD, password, by);
  if ('name' in found) return { section };
  findings.fail('AuthConfigured', 'AuthInvalid', found.problem, 'SecretValidationFailed');
  return undefined;
}

/** Every secret that the section names becomes a file of the pod. Returns what is wrong. */
async function mountSecrets({ pod }: Context, section: Section | undefined): Promise<string | undefined> {
  const refs = secretRefs(section, 'spec.config.sessionStorage');
  const values = await Promise.all(refs.map(({ path, name, key }) => pod.secretFile({ name, key }, path)));
  const problems = values.flatMap((value) => ('problem' in value ? [value.problem] : []));
  return problems.length === 0 ? undefined : problems.join('; ');
}

function sectionOf({ name, namespace, spec, defaults }: Context): Section | undefined {
  // the name alone is not unique in a Redis that several namespaces use
  const keyPrefix = `toolmgr:${namespace}:${name}:`;
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
function tellReplicas({ spec, findings }: Context, section: Section | undefined): void {
  const isShared = section?.provider === 'redis';
  if ((spec.replicas ?? 1) <= 1) {
    findings.tell(CONDITION, 'False', 'SessionStorageWarningNotApplicable', 'there is at most one replica');
  } else if (isShared) {
    findings.tell(CONDITION, 'False', 'SessionStorageConfigured', 'sessions are in Redis');
  } else {
    const message = `${spec.replicas} replicas do not share sessions; set spec.sessionStorage with provider redis`;
    findings.tell(CONDITION, 'True', 'SessionStorageMissingForReplicas', message);
  }
}
