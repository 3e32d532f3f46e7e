import { isObject } from '@toolmgr/core';
import { clusterPlugins } from '../kinds/cluster-plugins.ts';
import type { Context, Section } from './context.ts';
import type { IncomingAuth } from './incoming-auth.ts';
import type { ResolvedCondition } from './resolution.ts';
import { secretRefs } from './secret-refs.ts';

const CONDITION = 'AuthServerConfigValidated';
const MIN_HMAC_BYTES = 32;

/** `authServerConfig` of the vmcp file. No section without `spec.authServerConfig`; `undefined`: a check failed. */
export async function authServerOf(
  context: Context,
  incoming: IncomingAuth | undefined,
): Promise<{ readonly section?: Section } | undefined> {
  const { spec, findings } = context;
  const given = spec.authServerConfig;
  const named = incoming?.primaryUpstream;
  if (given === undefined) {
    if (named === undefined) return {};
    const message = `the policies read claims of the upstream provider ${named}, which needs spec.authServerConfig`;
    findings.fail(CONDITION, 'AuthzPrimaryProviderRequiresAuthServer', message);
    return undefined;
  }
  const isSound = primaryIsSound(context, incoming);
  const secretsAreSound = await checkSecrets(context, given);
  if (!isSound || !secretsAreSound) return undefined;
  for (const { type, status, reason, message } of await conditionsOf(given))
    findings.tell(type, status, reason, message);
  const primary = given.primaryUpstreamProvider || named;
  return {
    section: {
      ...given,
      ...(primary === undefined ? {} : { primaryUpstreamProvider: primary }),
      ...(isObject(given.storage) ? { storage: withKeyPrefix(given.storage, context) } : {}),
    },
  };
}

/** Whether the provider whose claims policies read is one of the server. */
function primaryIsSound({ spec, findings }: Context, incoming: IncomingAuth | undefined): boolean {
  const names = namesOf(spec.authServerConfig?.upstreamProviders);
  const given = spec.authServerConfig?.primaryUpstreamProvider || undefined;
  const fail = (reason: string, message: string): false => {
    findings.fail(CONDITION, reason, message);
    return false;
  };
  if (names.length === 0) {
    return fail('AuthzRequiresUpstream', 'spec.authServerConfig.upstreamProviders: expected at least one provider');
  }
  const places = [
    ['spec.authServerConfig.primaryUpstreamProvider', given],
    ['the policies of spec.incomingAuth', incoming?.primaryUpstream],
  ] as const;
  for (const [place, name] of places) {
    if (name === undefined || names.includes(name)) continue;
    return fail('AuthzUpstreamUnknown', `${place}: no upstream provider is named ${name} (${names.join(', ')})`);
  }
  if (given !== undefined && incoming?.primaryUpstream !== undefined && incoming.primaryUpstream !== given) {
    const message = `the policies name the upstream provider ${incoming.primaryUpstream}, spec.authServerConfig.primaryUpstreamProvider is ${given}`;
    return fail('AuthServerConfigInvalid', message);
  }
  const isChosen = given !== undefined || incoming?.primaryUpstream !== undefined;
  if (incoming?.hasPolicies === true && !isChosen && names.length > 1) {
    const message = `policies read claims of the first upstream provider, ${names[0]}; set spec.authServerConfig.primaryUpstreamProvider`;
    findings.tell('AuthzUpstreamSelectionWarning', 'True', 'AuthzUpstreamAutoSelected', message);
  }
  return true;
}

function namesOf(providers: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(providers) ? providers : [];
  return list.flatMap((each) => (isObject(each) && typeof each.name === 'string' ? [each.name] : []));
}

/** Every secret of the section becomes a file of the pod. */
async function checkSecrets({ findings, pod }: Context, given: Section): Promise<boolean> {
  const problems: string[] = [];
  for (const { path, name, key } of secretRefs(given, 'spec.authServerConfig')) {
    const value = await pod.secretFile({ name, key }, path);
    if ('problem' in value) problems.push(value.problem);
    else if (path.includes('.hmacSecretRefs[') && value.bytes < MIN_HMAC_BYTES) {
      const message = `${path}: the key ${key} of the secret ${name} has ${value.bytes} bytes, expected at least ${MIN_HMAC_BYTES}`;
      findings.fail('AuthConfigured', 'AuthInvalid', message, 'HMACSecretValidationFailed');
      return false;
    }
  }
  if (problems.length === 0) return true;
  findings.fail('AuthConfigured', 'AuthInvalid', problems.join('; '), 'SecretValidationFailed');
  return false;
}

/** What the plugin tells about a section that is an authorization server. */
export async function conditionsOf(section: unknown): Promise<readonly ResolvedCondition[]> {
  const plugin = (await clusterPlugins()).find(({ contractKey }) => contractKey === 'authServerConfig');
  return plugin?.fromCluster.conditions?.(section) ?? [];
}

/** Servers of other namespaces may use the same Redis. */
function withKeyPrefix(storage: Section, { name, namespace }: Context): Section {
  if (!isObject(storage.redis) || storage.redis.keyPrefix !== undefined) return storage;
  return { ...storage, redis: { ...storage.redis, keyPrefix: `toolmgr:auth:{${namespace}:${name}}:` } };
}
