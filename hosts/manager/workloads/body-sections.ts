import { isAbsolute } from 'node:path';
import { type RunConfig, runConfig, withoutLogin } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { readRequestedFile } from '../../workloads/config/option-file.ts';
import { present } from '../../workloads/config/present.ts';
import type { BodyProblems } from './body-problems.ts';
import { restoreMap } from './redaction.ts';
import type { WorkloadBody } from './workload-body.ts';

// Each function converts one section of a body to members of a run configuration; the result is empty when the body says
// nothing. `base` is the configuration that is edited.

export function overridesOf(given: WorkloadBody['tools_override'], base: RunConfig | undefined) {
  const entries = Object.entries(given ?? {}).map(([tool, { name, description }]) => {
    const annotations = base?.tools_override?.[tool]?.annotations;
    return [tool, present({ name: name || undefined, description: description || undefined, annotations })];
  });
  return entries.length === 0 ? {} : { tools_override: Object.fromEntries(entries) };
}

/** The file is read now; an unchanged path keeps what it contained. */
export async function authorizationOf(path: string | undefined, base: RunConfig | undefined) {
  if (path === (base?.authz_config_path ?? '') || !path) {
    return base?.authz_config === undefined || (path === undefined && base.authz_config_path !== undefined)
      ? {}
      : present({ authz_config: base.authz_config, authz_config_path: base.authz_config_path });
  }
  if (!isAbsolute(path)) throw new UsageError('authz_config: expected the absolute path of an authorization file');
  const schema = runConfig.shape.authz_config.unwrap();
  return { authz_config: await readRequestedFile('authz_config', path, schema), authz_config_path: path };
}

export function oidcOf(given: WorkloadBody['oidc'], base: RunConfig | undefined) {
  const before = base?.oidc_config;
  const shown = withoutEmpty(given);
  if (Object.keys(shown).length === 0) return {};
  const stored = before?.clientSecret;
  const isStored = stored?.startsWith(`${shown.client_secret},`);
  const secret = shown.client_secret && (isStored ? stored : `${shown.client_secret},target=clientSecret`);
  // the rest has no member in a body
  const { issuer: _, audience: __, jwksurl, introspectionURL, clientID, clientSecret, scopes, ...rest } = before ?? {};
  return {
    oidc_config: present({
      ...rest,
      issuer: shown.issuer,
      audience: shown.audience,
      jwksurl: shown.jwks_url,
      introspectionURL: shown.introspection_url,
      clientID: shown.client_id,
      clientSecret: secret || undefined,
      scopes: shown.scopes,
    }),
  };
}

export function runtimeOf(
  given: WorkloadBody['runtime_config'],
  base: RunConfig | undefined,
  { restored }: BodyProblems,
) {
  const shown = withoutEmpty(given);
  if (Object.keys(shown).length === 0) return {};
  const env =
    shown.runtime_env &&
    restored('runtime_config.runtime_env', restoreMap(shown.runtime_env, base?.runtime_config?.runtime_env));
  return { runtime_config: present({ ...shown, runtime_env: env }) };
}

export function headersOf(
  { header_forward: given }: WorkloadBody,
  base: RunConfig | undefined,
  from: { readonly headers: Readonly<Record<string, string>> },
  { restored }: BodyProblems,
) {
  const stored = base?.header_forward?.add_plaintext_headers;
  const plain = restored(
    'header_forward.add_plaintext_headers',
    restoreMap(given?.add_plaintext_headers ?? {}, stored),
  );
  const all = { ...from.headers, ...plain };
  const secret = given?.add_headers_from_secret ?? {};
  const forward = {
    ...(Object.keys(all).length === 0 ? {} : { add_plaintext_headers: all }),
    ...(Object.keys(secret).length === 0 ? {} : { add_headers_from_secret: secret }),
  };
  return Object.keys(forward).length === 0 ? {} : { header_forward: forward };
}

type RemoteAuth = NonNullable<RunConfig['remote_auth_config']>;

/** Settings of the login. What the last login left is kept while they are the same. */
export async function loginOf(
  given: Partial<NonNullable<WorkloadBody['oauth_config']>>,
  base: RemoteAuth,
  { restored }: BodyProblems,
) {
  const { client_secret: secret, bearer_token: token, oauth_params, use_pkce: _, callback_port, ...plain } = given;
  const settings = withoutLogin(base) ?? {};
  const reference = (ref: { name: string; target: string } | undefined, field: string, stored: string | undefined) =>
    ref && (stored?.startsWith(`${ref.name},`) ? stored : `${ref.name},target=${field}`);
  const params = oauth_params && restored('oauth_config.oauth_params', restoreMap(oauth_params, base.oauth_params));
  const next = present({
    ...present({
      required: settings.required,
      ...{ bearer_token_file: settings.bearer_token_file, client_secret_file: settings.client_secret_file },
      ...{ scope_param_name: settings.scope_param_name, timeout: settings.timeout, use_pkce: settings.use_pkce },
    }),
    ...plain,
    skip_browser: plain.skip_browser || settings.skip_browser !== undefined ? plain.skip_browser : undefined,
    callback_port: callback_port || undefined,
    oauth_params: params,
    client_secret: reference(secret, 'client_secret', base.client_secret),
    bearer_token: reference(token, 'bearer_token', base.bearer_token),
  }) as RemoteAuth;
  const isSame = JSON.stringify(sorted(next)) === JSON.stringify(sorted(settings));
  const kept = isSame ? base : next;
  return Object.keys(kept).length === 0 ? {} : { remote_auth_config: kept };
}

function sorted(value: object): unknown {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** An object of a body without its empty members, which `GET` writes for what is not set. */
export function withoutEmpty<T extends object>(value: T | undefined): Partial<T> {
  const entries = Object.entries(value ?? {}).filter(
    ([, member]) =>
      member !== '' &&
      member !== undefined &&
      !(typeof member === 'object' && member !== null && Object.keys(member).length === 0),
  );
  return Object.fromEntries(entries) as Partial<T>;
}
