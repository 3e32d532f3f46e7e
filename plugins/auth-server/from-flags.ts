import { join } from 'node:path';
import { present } from '@toolmgr/core';
import { inCamelCase } from '@toolmgr/plugins/kit/settings';
import type { FromFlags, RunConfig } from '@toolmgr/plugins/kit/workloads';

type EmbeddedAuth = NonNullable<RunConfig['embedded_auth_server_config']>;
type Upstream = EmbeddedAuth['upstreams'][number];
type RedisConfig = NonNullable<NonNullable<EmbeddedAuth['storage']>['redis_config']>;

/** The authorization server in front of a workload. The plugin's configuration has the names of `authServerConfig`. */
export const fromFlags: FromFlags = {
  where: 'embedded_auth_server_config',
  plan({ embedded_auth_server_config: given, oidc_config: oidc }, _start, use) {
    if (given === undefined) return {};
    const { schema_version: _, allowed_audiences, scopes_supported, insecure_allow_http, ...fields } = given;
    const { hmac_secret_files, signing_key_config, storage, upstreams, ...rest } = fields;
    const resource = oidc?.resourceURL ?? oidc?.audience;
    const settings = present({
      ...inCamelCase(rest),
      allowedAudiences: allowed_audiences ?? (resource === undefined ? undefined : [resource]),
      scopesSupported: scopes_supported ?? oidc?.scopes,
      hmacSecretRefs: hmac_secret_files?.map((file) => ({ file })),
      insecureAllowHTTP: insecure_allow_http,
      signingKeySecretRefs: signingKeys(signing_key_config),
      storage: storage && present({ type: storage.type, redis: redisOf(storage.redis_config) }),
      upstreamProviders: upstreams.map(upstreamOf),
    });
    return { plugins: [{ use, with: settings }] };
  },
};

/** Files are names in `key_dir`, or paths. */
function signingKeys(given: EmbeddedAuth['signing_key_config']) {
  if (given === undefined) return undefined;
  const { key_dir: folder, signing_key_file: current, fallback_key_files: older = [] } = given;
  const pathOf = (file: string): string => (folder === undefined || file.startsWith('/') ? file : join(folder, file));
  return [current, ...older].map((file) => ({ file: pathOf(file) }));
}

function redisOf(given: RedisConfig | undefined) {
  if (given === undefined) return undefined;
  const { acl_user_config: login, auth_type: _, tls, sentinel_tls, ...rest } = given;
  return {
    ...inCamelCase(rest),
    aclUserConfig: present({
      passwordSecretRef: { env: login.password_env_var },
      usernameSecretRef: login.username_env_var === undefined ? undefined : { env: login.username_env_var },
    }),
    ...present({ tls: tlsOf(tls), sentinelTls: tlsOf(sentinel_tls) }),
  };
}

function tlsOf(given: RedisConfig['tls']) {
  return (
    given &&
    present({
      caCertSecretRef: given.ca_cert_file === undefined ? undefined : { file: given.ca_cert_file },
      insecureSkipVerify: given.insecure_skip_verify,
    })
  );
}

function upstreamOf({ name, type, oidc_config: oidc, oauth2_config: oauth2 }: Upstream) {
  const given = oidc ?? oauth2;
  return {
    name,
    type,
    ...present({
      allowPrivateAddresses: given?.allow_private_ips,
      insecureAllowHTTP: given?.insecure_allow_http,
      oidcConfig: oidc && oidcOf(oidc),
      oauth2Config: oauth2 && oauth2Of(oauth2),
    }),
  };
}

function oidcOf({ userinfo_override: override, ...rest }: NonNullable<Upstream['oidc_config']>) {
  return { ...clientOf(rest), ...present({ userInfoOverride: userInfoOf(override) }) };
}

function oauth2Of({ userinfo, dcr_config: dcr, ...rest }: NonNullable<Upstream['oauth2_config']>) {
  return { ...clientOf(rest), ...present({ dcrConfig: registrationOf(dcr), userInfo: userInfoOf(userinfo) }) };
}

/** Names of parameters are the user's own and stay. What both kinds of providers have is a level above. */
function clientOf({
  client_secret_env_var: env,
  client_secret_file: file,
  additional_authorization_params: additionalAuthorizationParams,
  allow_private_ips: _,
  insecure_allow_http: __,
  ...rest
}: Partial<NonNullable<Upstream['oidc_config']>>) {
  return present({ ...inCamelCase(rest), clientSecretRef: referenceOf(env, file), additionalAuthorizationParams });
}

function registrationOf(given: NonNullable<Upstream['oauth2_config']>['dcr_config']) {
  if (given === undefined) return undefined;
  const { initial_access_token_env_var: variable, initial_access_token_file: file, ...rest } = given;
  return { ...inCamelCase(rest), ...present({ initialAccessTokenRef: referenceOf(variable, file) }) };
}

/** A variable and a file together are refused by the schema of references. */
function referenceOf(env: string | undefined, file: string | undefined) {
  return env === undefined && file === undefined ? undefined : present({ env, file });
}

/** Header names are the user's own and stay. */
function userInfoOf(given: NonNullable<Upstream['oidc_config']>['userinfo_override']) {
  if (given === undefined) return undefined;
  const { additional_headers: additionalHeaders, ...rest } = given;
  return { ...inCamelCase(rest), ...present({ additionalHeaders }) };
}
