import { resolve } from 'node:path';
import { present } from '@toolmgr/core';
import { type RunConfig, resourceProblem, runConfig } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { readOptionFile, readSecretFile } from './option-file.ts';
import { type Storing, storedSection } from './stored-values.ts';

/** The fields about callers, records and tokens for the server that more than one option or a file decides. */
export type Policy = Pick<
  RunConfig,
  | ('audit_config' | 'audit_config_path' | 'authz_config' | 'authz_config_path' | 'token_exchange_config')
  | ('jwks_auth_token_file' | 'tool_ca_bundle')
>;

/**
 * Reads the files of policy flags. Paths become absolute, because the proxy runs in another folder.
 * @throws UsageError naming the option and what is wrong
 */
export async function policyFromFlags(storing: Storing): Promise<Policy> {
  const { flags, cwd } = storing;
  const absolute = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file));
  return {
    ...(await auditOf(storing)),
    ...(await authzOf(storing)),
    ...present({
      jwks_auth_token_file: absolute(flags.jwksAuthTokenFile),
      tool_ca_bundle: absolute(flags.toolCaBundle),
      token_exchange_config: await tokenExchangeOf(storing),
    }),
  };
}

async function auditOf({ flags: { enableAudit, auditConfig: file }, cwd }: Storing): Promise<Policy> {
  if (file === undefined) return enableAudit === true ? { audit_config: { enabled: true } } : {};
  const read = await readOptionFile('--audit-config', file, cwd, runConfig.shape.audit_config.unwrap());
  const logFile = read.logFile ? { logFile: resolve(cwd, read.logFile) } : {};
  return { audit_config: { ...read, ...logFile }, audit_config_path: resolve(cwd, file) };
}

async function authzOf({ flags: { authzConfig: file }, cwd }: Storing): Promise<Policy> {
  if (file === undefined) return {};
  const read = await readOptionFile('--authz-config', file, cwd, runConfig.shape.authz_config.unwrap());
  return { authz_config: read, authz_config_path: resolve(cwd, file) };
}

async function tokenExchangeOf(storing: Storing): Promise<RunConfig['token_exchange_config']> {
  const { flags, cwd, secrets } = storing;
  const section = await storedSection('token_exchange_config', storing);
  if (section === undefined) return undefined;
  const file = flags.tokenExchangeClientSecretFile;
  const secret = file && (await readSecretFile('--token-exchange-client-secret-file', file, cwd));
  return {
    ...section,
    header_strategy: flags.tokenExchangeHeaderName === undefined ? 'replace' : 'custom',
    ...present({ client_secret: secret && secrets.keep('TOKEN_EXCHANGE_CLIENT_SECRET', 'client_secret', secret) }),
  };
}

/** The login at a remote server. Files of secrets are read again at each start, so that a new secret counts. @throws UsageError */
export async function remoteAuthOf(storing: Storing): Promise<RunConfig['remote_auth_config']> {
  const { remoteAuthResource: resource, remoteAuthParams: params } = storing.flags;
  const problem = resource === undefined ? undefined : resourceProblem(resource);
  if (problem !== undefined) throw new UsageError(`--remote-auth-resource: ${problem}`);
  const stored = await storedSection('remote_auth_config', storing);
  return params === undefined ? stored : { ...stored, oauth_params: { ...params } };
}
