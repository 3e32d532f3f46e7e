import { resolve } from 'node:path';
import { type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import type { PolicyFlags } from '../fields/policy-options.ts';
import type { SecretCollector } from './collect-secrets.ts';
import { readOptionFile, readSecretFile } from './option-file.ts';
import { present } from './present.ts';

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
export async function policyFromFlags(
  name: string,
  flags: PolicyFlags,
  cwd: string,
  secrets: SecretCollector,
): Promise<Policy> {
  return {
    ...(await auditOf(flags, cwd)),
    ...(await authzOf(flags, cwd)),
    ...oidcOf(flags, cwd, secrets),
    ...(await tokenExchangeOf(flags, cwd, secrets)),
    ...telemetryOf(name, flags, secrets),
  };
}

async function auditOf({ enableAudit, auditConfig: file }: PolicyFlags, cwd: string): Promise<Policy> {
  if (file === undefined) return enableAudit === true ? { audit_config: { enabled: true } } : {};
  const read = await readOptionFile('--audit-config', file, cwd, runConfig.shape.audit_config.unwrap());
  const logFile = read.logFile ? { logFile: resolve(cwd, read.logFile) } : {};
  return { audit_config: { ...read, ...logFile }, audit_config_path: resolve(cwd, file) };
}

async function authzOf({ authzConfig: file }: PolicyFlags, cwd: string): Promise<Policy> {
  if (file === undefined) return {};
  const read = await readOptionFile('--authz-config', file, cwd, runConfig.shape.authz_config.unwrap());
  return { authz_config: read, authz_config_path: resolve(cwd, file) };
}

function oidcOf(flags: PolicyFlags, cwd: string, secrets: SecretCollector): Policy {
  const { oidcIssuer, oidcAudience, oidcClientSecret, jwksAuthTokenFile, toolCaBundle } = flags;
  if (oidcIssuer === undefined) return {};
  const tokenFile = jwksAuthTokenFile === undefined ? undefined : resolve(cwd, jwksAuthTokenFile);
  const caBundle = toolCaBundle === undefined ? undefined : resolve(cwd, toolCaBundle);
  const clientSecret =
    oidcClientSecret === undefined ? undefined : secrets.keep('OIDC_CLIENT_SECRET', 'clientSecret', oidcClientSecret);
  return {
    oidc_config: present({
      issuer: oidcIssuer,
      audience: oidcAudience,
      clientID: flags.oidcClientId,
      clientSecret,
      introspectionURL: flags.oidcIntrospectionUrl,
      jwksurl: flags.oidcJwksUrl,
      scopes: [...(flags.oidcScopes ?? ['openid'])],
      insecureAllowHTTP: flags.oidcInsecureAllowHttp,
      allowPrivateIP: flags.jwksAllowPrivateIp,
      resourceURL: flags.resourceUrl,
      authTokenFile: tokenFile,
      cacertPath: caBundle,
    }),
    ...present({ jwks_auth_token_file: tokenFile, tool_ca_bundle: caBundle }),
  };
}

async function tokenExchangeOf(flags: PolicyFlags, cwd: string, secrets: SecretCollector): Promise<Policy> {
  const { tokenExchangeUrl, tokenExchangeClientSecretFile: file, tokenExchangeHeaderName: header } = flags;
  if (tokenExchangeUrl === undefined) return {};
  const secret =
    file === undefined
      ? flags.tokenExchangeClientSecret
      : await readSecretFile('--token-exchange-client-secret-file', file, cwd);
  return {
    token_exchange_config: {
      token_url: tokenExchangeUrl,
      ...present({
        audience: flags.tokenExchangeAudience,
        client_id: flags.tokenExchangeClientId,
        client_secret:
          secret === undefined ? undefined : secrets.keep('TOKEN_EXCHANGE_CLIENT_SECRET', 'client_secret', secret),
        scopes: flags.tokenExchangeScopes === undefined ? undefined : [...flags.tokenExchangeScopes],
        external_token_header_name: header,
      }),
      header_strategy: header === undefined ? 'replace' : 'custom',
      subject_token_type: flags.tokenExchangeSubjectTokenType ?? 'access_token',
    },
  };
}

function telemetryOf(name: string, flags: PolicyFlags, secrets: SecretCollector): Policy {
  const { otelEndpoint: endpoint, otelEnablePrometheusMetricsPath: prometheus = false } = flags;
  if (endpoint === undefined && !prometheus) return {};
  const headers = Object.entries(flags.otelHeaders ?? {}).map(([header, value], index) => [
    header,
    secrets.keep(`OTEL_HEADER_${index + 1}`, 'headers', value),
  ]);
  return {
    telemetry_config: present({
      endpoint,
      headers: headers.length === 0 ? undefined : Object.fromEntries(headers),
      insecure: flags.otelInsecure,
      serviceName: flags.otelServiceName ?? `${SERVICE_PREFIX}${name}`,
      samplingRate: flags.otelSamplingRate ?? DEFAULT_RATE,
      tracingEnabled: endpoint !== undefined && flags.otelTracingEnabled !== false,
      metricsEnabled: endpoint !== undefined && flags.otelMetricsEnabled !== false,
      enablePrometheusMetricsPath: prometheus,
      customAttributes: flags.otelCustomAttributes === undefined ? undefined : { ...flags.otelCustomAttributes },
      environmentVariables: flags.otelEnvVars === undefined ? undefined : [...flags.otelEnvVars],
      useLegacyAttributes: flags.otelUseLegacyAttributes !== false,
    }),
  };
}

const SERVICE_PREFIX = 'toolmgr-';
const DEFAULT_RATE = '0.1';
