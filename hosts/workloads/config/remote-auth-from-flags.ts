import { resolve } from 'node:path';
import { type RemoteAuthConfig, type RunConfig, resourceProblem } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../fields/options.ts';
import type { SecretCollector } from './collect-secrets.ts';
import { readSecretFile } from './option-file.ts';
import { present } from './present.ts';

/**
 * How the remote server is authenticated to. Secrets of flags are kept as secrets of the workload; files of secrets are read
 * again at each start, so that a new secret counts.
 * @throws UsageError when a file cannot be read or the resource is no URI
 */
export async function remoteAuthFromFlags(
  flags: RunFlags,
  cwd: string,
  secrets: SecretCollector,
): Promise<Pick<RunConfig, 'remote_auth_config'>> {
  const { remoteAuthResource: resource } = flags;
  const problem = resource === undefined ? undefined : resourceProblem(resource);
  if (problem !== undefined) throw new UsageError(`--remote-auth-resource: ${problem}`);
  const config: RemoteAuthConfig = present({
    ...(await bearerToken(flags, cwd, secrets)),
    ...(await clientSecret(flags, cwd, secrets)),
    required: flags.remoteAuth === true ? true : undefined,
    issuer: flags.remoteAuthIssuer,
    authorize_url: flags.remoteAuthAuthorizeUrl,
    token_url: flags.remoteAuthTokenUrl,
    client_id: flags.remoteAuthClientId,
    resource,
    scopes: flags.remoteAuthScopes === undefined ? undefined : [...flags.remoteAuthScopes],
    scope_param_name: flags.remoteAuthScopeParamName,
    oauth_params: flags.remoteAuthParams === undefined ? undefined : { ...flags.remoteAuthParams },
    callback_port: flags.remoteAuthCallbackPort,
    skip_browser: flags.remoteAuthSkipBrowser,
    timeout: flags.remoteAuthTimeout,
  });
  return Object.keys(config).length === 0 ? {} : { remote_auth_config: config };
}

async function bearerToken(
  { remoteAuthBearerToken: token, remoteAuthBearerTokenFile: file }: RunFlags,
  cwd: string,
  secrets: SecretCollector,
): Promise<Pick<RemoteAuthConfig, 'bearer_token' | 'bearer_token_file'>> {
  if (token !== undefined) return { bearer_token: secrets.keep('REMOTE_AUTH_BEARER_TOKEN', 'bearer_token', token) };
  if (file === undefined) return {};
  await readSecretFile('--remote-auth-bearer-token-file', file, cwd);
  return { bearer_token_file: resolve(cwd, file) };
}

async function clientSecret(
  { remoteAuthClientSecret: secret, remoteAuthClientSecretFile: file }: RunFlags,
  cwd: string,
  secrets: SecretCollector,
): Promise<Pick<RemoteAuthConfig, 'client_secret' | 'client_secret_file'>> {
  if (secret !== undefined)
    return { client_secret: secrets.keep('REMOTE_AUTH_CLIENT_SECRET', 'client_secret', secret) };
  if (file === undefined) return {};
  await readSecretFile('--remote-auth-client-secret-file', file, cwd);
  return { client_secret_file: resolve(cwd, file) };
}
