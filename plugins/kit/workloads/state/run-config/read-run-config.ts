import { explainIssues, isObject } from '@toolmgr/core';
import { canBeIsolated } from '../../permissions/network-mode.ts';
import { fromFirstFormat } from './first-run-format.ts';
import { fromForeignFormat } from './foreign-run-config.ts';
import { withoutLogin } from './remote-auth-config.ts';
import { type RunConfig, runConfig } from './run-config.ts';
import { findConflict } from './run-config-conflicts.ts';

/** The outcome of reading: the configuration, or one sentence per fault. Values are not repeated. */
export type ReadRunConfig = { readonly config: RunConfig } | { readonly problems: readonly string[] };

/** Reads a run configuration of this version, of the first one or of another implementation. Unknown fields are faults with the nearest name. */
export function readRunConfig(value: unknown): ReadRunConfig {
  const translated = fromForeignFormat(fromFirstFormat(value));
  if ('problems' in translated) return translated;
  const current = isolatedByDefault(translated.value);
  const read = runConfig.safeParse(current);
  if (!read.success) return { problems: explainIssues('', runConfig, read.error) };
  const conflict = findConflict(read.data);
  if (conflict !== undefined) return { problems: [conflict] };
  return { config: read.data };
}

/** An image is isolated unless the configuration says otherwise, or its network mode cannot be isolated. */
function isolatedByDefault(value: unknown): unknown {
  if (!isObject(value) || value.image === undefined || value.isolate_network !== undefined) return value;
  const profile = isObject(value.permission_profile) ? value.permission_profile : {};
  const mode = isObject(profile.network) ? profile.network.mode : undefined;
  return { ...value, isolate_network: mode === undefined || (typeof mode === 'string' && canBeIsolated(mode)) };
}

/** The configuration without what a login left. */
export function withoutStoredLogin({ remote_auth_config: auth, ...config }: RunConfig): RunConfig {
  const settings = withoutLogin(auth);
  return { ...config, ...(settings === undefined ? {} : { remote_auth_config: settings }) };
}
