import { createHash } from 'node:crypto';
import type { RunConfig, WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { z } from 'zod';
import { secretNameOf, secretTargetOf } from '../../workloads/config/collect-secrets.ts';
import { summaryOf } from '../../workloads/planning/summary.ts';
import { redactList, redactMap, redactUrl } from './redaction.ts';
import { headerDef, secretRef, type WorkloadListItem } from './shapes.ts';

const text = z.string();
const texts = z.array(z.string());
const textMap = z.record(z.string(), z.string());

/** `WorkloadDetail` of the contract: every member is there; what a workload does not have is empty, 0 or false. */
export const workloadDetail = z
  .strictObject({
    name: text,
    group: text,
    image: text.describe('image, package or program; empty for a remote server'),
    url: text.describe('URL of a remote server, without values of its query'),
    transport: text,
    proxy_mode: text,
    host: text,
    proxy_port: z.int().describe('0 before the first start'),
    target_port: z.int(),
    cmd_arguments: texts.describe('values that may be secret are hidden'),
    env_vars: textMap.describe('values that may be secret are hidden'),
    secrets: z.array(secretRef),
    volumes: texts,
    permission_profile: permissionProfile.partial().describe('empty for what is no container'),
    network_isolation: z.boolean(),
    allow_docker_gateway: z.boolean(),
    trust_proxy_headers: z.boolean(),
    authz_config: text.describe('path of the authorization file'),
    oidc: z.strictObject({
      issuer: text,
      audience: text,
      jwks_url: text,
      introspection_url: text,
      client_id: text,
      client_secret: text.describe('name of the stored secret'),
      scopes: texts,
    }),
    tools: texts,
    tools_override: z.record(z.string(), z.strictObject({ name: text, description: text })),
    runtime_config: z.strictObject({
      builder_image: text,
      additional_packages: texts,
      build_with: texts,
      runtime_env: textMap,
    }),
    oauth_config: z.strictObject({
      issuer: text,
      authorize_url: text,
      token_url: text,
      client_id: text,
      client_secret: secretRef.optional(),
      bearer_token: secretRef.optional(),
      scopes: texts,
      use_pkce: z.boolean(),
      oauth_params: textMap,
      callback_port: z.int(),
      skip_browser: z.boolean(),
      resource: text,
    }),
    headers: z.array(headerDef),
    header_forward: z.strictObject({ add_plaintext_headers: textMap, add_headers_from_secret: textMap }),
    registry: text.describe('`default` for a server of the registry'),
    server: text.describe('its entry in the registry'),
  })
  .describe('a workload with its configuration');

/** The configuration of a workload as operations show it. */
export type WorkloadDetail = z.output<typeof workloadDetail>;

/** What a configuration calls its server. */
export function imageOf({ image, process: program }: RunConfig): string {
  return image ?? program?.target ?? '';
}

/** Converts a configuration. `port`: that of the last start. */
export function detailOf(config: RunConfig, port = 0): WorkloadDetail {
  const { oidc_config: oidc = {}, remote_url: url } = config;
  return {
    name: config.name,
    group: config.group,
    image: imageOf(config),
    url: url === undefined ? '' : redactUrl(url),
    transport: config.transport,
    proxy_mode: config.proxy_mode,
    host: config.host,
    proxy_port: config.port || port,
    target_port: config.target_port ?? 0,
    cmd_arguments: redactList(config.cmd_args),
    env_vars: redactMap(config.env_vars),
    secrets: (config.secrets ?? []).map(refOf),
    volumes: config.volumes ?? [],
    permission_profile: config.permission_profile ?? {},
    network_isolation: config.isolate_network,
    allow_docker_gateway: config.allow_docker_gateway,
    trust_proxy_headers: config.trust_proxy_headers,
    authz_config: config.authz_config_path ?? '',
    oidc: {
      issuer: oidc.issuer ?? '',
      audience: oidc.audience ?? '',
      jwks_url: oidc.jwksurl ?? '',
      introspection_url: oidc.introspectionURL ?? '',
      client_id: oidc.clientID ?? '',
      client_secret: oidc.clientSecret === undefined ? '' : secretNameOf(oidc.clientSecret),
      scopes: oidc.scopes ?? [],
    },
    tools: config.tools_filter ?? [],
    tools_override: Object.fromEntries(
      Object.entries(config.tools_override ?? {}).map(([tool, { name = '', description = '' }]) => [
        tool,
        { name, description },
      ]),
    ),
    ...buildAndLogin(config),
    headers: config.remote_headers ?? [],
    header_forward: {
      add_plaintext_headers: redactMap(config.header_forward?.add_plaintext_headers ?? {}),
      add_headers_from_secret: config.header_forward?.add_headers_from_secret ?? {},
    },
    registry: config.registry_server_name === undefined ? '' : 'default',
    server: config.registry_server_name ?? '',
  };
}

function buildAndLogin({
  runtime_config: runtime = {},
  remote_auth_config: auth = {},
}: RunConfig): Pick<WorkloadDetail, 'runtime_config' | 'oauth_config'> {
  return {
    runtime_config: {
      builder_image: runtime.builder_image ?? '',
      additional_packages: runtime.additional_packages ?? [],
      build_with: runtime.build_with ?? [],
      runtime_env: redactMap(runtime.runtime_env ?? {}),
    },
    oauth_config: {
      issuer: auth.issuer ?? '',
      authorize_url: auth.authorize_url ?? '',
      token_url: auth.token_url ?? '',
      client_id: auth.client_id ?? '',
      ...(auth.client_secret === undefined ? {} : { client_secret: refOf(auth.client_secret) }),
      ...(auth.bearer_token === undefined ? {} : { bearer_token: refOf(auth.bearer_token) }),
      scopes: auth.scopes ?? [],
      use_pkce: true,
      oauth_params: redactMap(auth.oauth_params ?? {}),
      callback_port: auth.callback_port ?? 0,
      skip_browser: auth.skip_browser ?? false,
      resource: auth.resource ?? '',
    },
  };
}

function refOf(reference: string): { name: string; target: string } {
  return { name: secretNameOf(reference), target: secretTargetOf(reference) };
}

/** Converts a record to the item of a list. */
export function listItemOf(record: WorkloadRecord): WorkloadListItem {
  const { target: _, pid: __, restarts: ___, status_context = '', ...summary } = summaryOf(record);
  return {
    ...summary,
    status: summary.status as WorkloadListItem['status'],
    status_context,
    port: summary.port ?? record.config?.port ?? 0,
    labels: { ...summary.labels },
    tools: [...summary.tools],
    created_at: summary.created_at ?? '',
    started_at: summary.started_at ?? '',
  };
}

/** Entity tag of a configuration: another one after each change. */
export function etagOf(config: RunConfig): string {
  const { remote_auth_config: _, ...stable } = config; // tokens of a login change without an edit
  return `"${createHash('sha256').update(JSON.stringify(stable)).digest('base64url').slice(0, 22)}"`;
}
