import { present } from '@toolmgr/core';
import { type FromFlags, type RunConfig, secretNameOf } from '@toolmgr/plugins/kit/workloads';
import type { OauthClientOptions } from './config.ts';

/** The tokens of a login, when there was one. */
export const fromFlags: FromFlags = {
  plan(config, { state }) {
    const options = oauthOptionsOf(config, state);
    return options === undefined ? {} : { strategy: { type: 'oauth_client', options } };
  },
};

/** Options of the strategy for the login of a workload; `undefined` when it has none. */
export function oauthOptionsOf(config: RunConfig, stateDir: string): OauthClientOptions | undefined {
  const { name: workload, remote_url: remoteUrl, remote_auth_config: auth = {} } = config;
  const { cached_token_url: tokenUrl } = auth;
  const clientId = auth.client_id ?? auth.cached_client_id ?? auth.cached_cimd_client_id;
  if (remoteUrl === undefined || tokenUrl === undefined || clientId === undefined) return undefined;
  const secret = auth.client_secret ?? auth.cached_client_secret_ref;
  return {
    ...{ remoteUrl, tokenUrl, clientId, stateDir, workload },
    ...present({
      clientSecretName: secret && secretNameOf(secret),
      clientSecretFile: auth.client_secret_file,
      authMethod: auth.cached_token_auth_method,
      resource: auth.cached_resource,
    }),
  };
}
