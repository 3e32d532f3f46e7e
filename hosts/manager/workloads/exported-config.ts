import { fieldPath } from '@toolmgr/core';
import type { FieldProblem } from '@toolmgr/plugins/kit/operations';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { HIDDEN } from '../../shared/redact-arguments.ts';
import { redactList, redactMap, redactUrl } from './redaction.ts';

/** A configuration for export: without the time of its creation; values that may be secret are hidden. Pure. */
export function exportedConfig({ created_at: _, ...config }: RunConfig): Omit<RunConfig, 'created_at'> {
  const { process: program, remote_url: url, header_forward: forward, runtime_config: runtime } = config;
  const headers = forward?.add_plaintext_headers;
  const env = runtime?.runtime_env;
  const auth = config.remote_auth_config;
  return {
    ...config,
    env_vars: redactMap(config.env_vars),
    cmd_args: redactList(config.cmd_args),
    ...(url === undefined ? {} : { remote_url: redactUrl(url) }),
    ...(program === undefined ? {} : { process: { ...program, args: redactList(program.args) } }),
    ...(headers === undefined ? {} : { header_forward: { ...forward, add_plaintext_headers: redactMap(headers) } }),
    ...(env === undefined ? {} : { runtime_config: { ...runtime, runtime_env: redactMap(env) } }),
    ...(auth?.oauth_params === undefined
      ? {}
      : { remote_auth_config: { ...auth, oauth_params: redactMap(auth.oauth_params) } }),
  };
}

/** The places of a configuration where an export hid a value: an import needs the values. */
export function hiddenPlaces(value: unknown, path: readonly (string | number)[] = []): readonly FieldProblem[] {
  if (typeof value === 'string') {
    const detail = 'the value was hidden by the export: give the value, or refer to a stored secret in secrets';
    return value.includes(HIDDEN) ? [{ in: 'body', path: fieldPath(path), detail }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...members].flatMap(([key, member]) => hiddenPlaces(member, [...path, key]));
}
