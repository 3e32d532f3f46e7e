import { present } from '@toolmgr/core';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { OauthClientOptions } from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import { secretNameOf } from '../config/collect-secrets.ts';

/** Options of the strategy `oauth_client` for the login of a workload; `undefined` when it has none. */
export function oauthOptionsOf(config: RunConfig, state: string): OauthClientOptions | undefined {
  const { name, remote_url: remoteUrl, remote_auth_config: auth = {} } = config;
  const { cached_token_url: tokenUrl } = auth;
  const clientId = auth.client_id ?? auth.cached_client_id ?? auth.cached_cimd_client_id;
  if (remoteUrl === undefined || tokenUrl === undefined || clientId === undefined) return undefined;
  const secret = auth.client_secret ?? auth.cached_client_secret_ref;
  return {
    ...{ remoteUrl, tokenUrl, clientId, stateDir: state, workload: name },
    ...present({
      clientSecretName: secret === undefined ? undefined : secretNameOf(secret),
      clientSecretFile: auth.client_secret_file,
      authMethod: auth.cached_token_auth_method,
      resource: auth.cached_resource,
    }),
  };
}
