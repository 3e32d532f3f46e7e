import { resolve } from 'node:path';
import { present } from '@toolmgr/core';
import { type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { readOptionFile, readSecretFile } from './option-file.ts';
import { type Storing, storedSection } from './stored-values.ts';

/** The fields of a run configuration that say who may call, what is recorded and which token goes to the server. */
export type Policy = Pick<
  RunConfig,
  | 'audit_config'
  | 'audit_config_path'
  | 'authz_config'
  | 'authz_config_path'
  | 'oidc_config'
  | 'jwks_auth_token_file'
  | 'tool_ca_bundle'
  | 'token_exchange_config'
  | 'telemetry_config'
>;

/**
 * Reads the policy flags and their files. Paths become absolute, because the proxy runs in another folder.
 * @throws UsageError naming the option and what is wrong
 */
export async function policyFromFlags(name: string, storing: Storing): Promise<Policy> {
  return {
    ...(await auditOf(storing)),
    ...(await authzOf(storing)),
    ...(await oidcOf(storing)),
    ...(await tokenExchangeOf(storing)),
    ...(await telemetryOf(name, storing)),
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

async function oidcOf(storing: Storing): Promise<Policy> {
  if (storing.flags.oidcIssuer === undefined) return {};
  const oidc = { scopes: ['openid'], ...(await storedSection('oidc_config', storing)) };
  return {
    oidc_config: oidc,
    ...present({ jwks_auth_token_file: oidc.authTokenFile, tool_ca_bundle: oidc.cacertPath }),
  };
}

async function tokenExchangeOf(storing: Storing): Promise<Policy> {
  const { flags, cwd, secrets } = storing;
  const { tokenExchangeUrl: url, tokenExchangeClientSecretFile: file } = flags;
  if (url === undefined) return {};
  const secret =
    file === undefined ? undefined : await readSecretFile('--token-exchange-client-secret-file', file, cwd);
  return {
    token_exchange_config: {
      token_url: url,
      subject_token_type: 'access_token',
      ...(await storedSection('token_exchange_config', storing)),
      header_strategy: flags.tokenExchangeHeaderName === undefined ? 'replace' : 'custom',
      ...(secret === undefined
        ? {}
        : { client_secret: secrets.keep('TOKEN_EXCHANGE_CLIENT_SECRET', 'client_secret', secret) }),
    },
  };
}

async function telemetryOf(name: string, storing: Storing): Promise<Policy> {
  const { flags, secrets } = storing;
  const { otelEndpoint: endpoint, otelEnablePrometheusMetricsPath: prometheus = false } = flags;
  if (endpoint === undefined && !prometheus) return {};
  const headers = Object.entries(flags.otelHeaders ?? {}).map(([header, value], index) => [
    header,
    secrets.keep(`OTEL_HEADER_${index + 1}`, 'headers', value),
  ]);
  return {
    telemetry_config: {
      serviceName: `${SERVICE_PREFIX}${name}`,
      samplingRate: DEFAULT_RATE,
      ...(await storedSection('telemetry_config', storing)),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      tracingEnabled: endpoint !== undefined && flags.otelTracingEnabled !== false,
      metricsEnabled: endpoint !== undefined && flags.otelMetricsEnabled !== false,
      enablePrometheusMetricsPath: prometheus,
      useLegacyAttributes: flags.otelUseLegacyAttributes !== false,
    },
  };
}

const SERVICE_PREFIX = 'toolmgr-';
const DEFAULT_RATE = '0.1';
