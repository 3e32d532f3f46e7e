import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { EnvVar, ImageServer } from '@toolmgr/plugins/registry';
import { secretTargetOf } from '../../workloads/config/collect-secrets.ts';

/** A setting of a workload that differs from that of its registry entry. */
export interface Change {
  readonly from: string;
  readonly to: string;
}

/** What a registry entry says differently than a workload. An upgrade shows it and does not apply it. */
export interface Drift {
  readonly config_drift?: { readonly permission_profile?: Change; readonly transport?: Change };
  readonly env_var_drift?: { readonly added: readonly EnvVar[]; readonly removed: readonly EnvVar[] };
}

/**
 * Compares settings with a registry entry. No value of the workload is in the result. Pure.
 *
 * `added`: variables of the entry that the workload does not have. `removed`: variables of the workload that the entry does not
 * have.
 */
export function driftOf(config: RunConfig, entry: ImageServer): Drift {
  const changes = {
    ...changeOf('permission_profile', profileName(config), entry.permissions?.name),
    ...changeOf('transport', config.transport, entry.transport),
  };
  const { added, removed } = variablesOf(config, entry.env_vars ?? []);
  return {
    ...(Object.keys(changes).length === 0 ? {} : { config_drift: changes }),
    ...(added.length + removed.length === 0 ? {} : { env_var_drift: { added, removed } }),
  };
}

/** Variables that the workload sets, plainly or from a secret. */
export function variablesSet({ env_vars, secrets = [] }: Pick<RunConfig, 'env_vars' | 'secrets'>): ReadonlySet<string> {
  return new Set([...Object.keys(env_vars), ...secrets.map(secretTargetOf)]);
}

function variablesOf(config: RunConfig, declared: readonly EnvVar[]) {
  const set = variablesSet(config);
  const known = new Set(declared.map(({ name }) => name));
  const secret = new Set((config.secrets ?? []).map(secretTargetOf));
  return {
    added: declared.filter(({ name }) => !set.has(name)).map(withoutSecretDefault),
    removed: [...set]
      .filter((name) => !known.has(name))
      .map((name): EnvVar => ({ name, required: false, secret: secret.has(name) })),
  };
}

function withoutSecretDefault({ default: value, ...variable }: EnvVar): EnvVar {
  return variable.secret || value === undefined ? variable : { ...variable, default: value };
}

/** Names are compared only when both are known. */
function changeOf(name: 'permission_profile' | 'transport', from: string | undefined, to: string | undefined) {
  return from === undefined || to === undefined || from === to ? {} : { [name]: { from, to } };
}

/** The name of the profile; that of a file is in the file. */
function profileName({ permission_profile: profile, permission_profile_name_or_path: given }: RunConfig) {
  return profile?.name ?? (given === undefined || given.includes('/') ? undefined : given);
}
