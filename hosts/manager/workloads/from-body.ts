import { isAbsolute } from 'node:path';
import type { FieldProblem } from '@toolmgr/plugins/management';
import { RUN_CONFIG_VERSION, type RunConfig, runConfig, withoutLogin } from '@toolmgr/plugins/workloads/state';
import { readRequestedFile } from '../../run/config/option-file.ts';
import { present } from '../../run/config/present.ts';
import { findUserSecret } from '../../run/secrets/start-secrets.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { type Restored, restoreList, restoreMap, restoreText } from './redaction.ts';
import { resolveImage } from './resolve-image.ts';
import type { WorkloadBody } from './workload-body.ts';

/** A configuration that a body asks for, or what is wrong in it. */
export type FromBody =
  | {
      readonly config: RunConfig;
      readonly warnings: readonly string[];
      /** Values that are kept with the workload. */
      readonly secrets: Readonly<Record<string, string>>;
    }
  | { readonly errors: readonly FieldProblem[] };

/** What a body is converted with. */
export interface Conversion {
  readonly name: string;
  /** What is edited; absent for a creation. */
  readonly base?: RunConfig;
  /** Port of the last start of what is edited. */
  readonly port?: number;
  readonly nowMs: number;
}

/**
 * Converts a body to a run configuration. It replaces everything that a body can say; what it leaves out gets its default, and what
 * only the command line can set is kept. Hidden values that came back unchanged keep the stored ones.
 * @throws UsageError for a file or a registry entry that cannot be used
 */
export async function configFromBody(given: WorkloadBody, to: Conversion): Promise<FromBody> {
  const errors: FieldProblem[] = [];
  const wrong = (path: string, detail: string): undefined => {
    errors.push({ in: 'body', path, detail });
    return undefined;
  };
  const restored = <T>(path: string, outcome: Restored<T>): T | undefined => {
    if ('value' in outcome) return outcome.value;
    for (const name of outcome.hidden) {
      wrong(name === '' ? path : `${path}.${name}`, 'the value is hidden and there is no stored one: give the value');
    }
    return undefined;
  };
  const { base } = to;
  const body = { ...given, ...sourceOf(given, base, wrong) };
  if (errors.length > 0) return { errors };
  const from = await resolveImage(body, to, Boolean(body.url));
  const isRemote = Boolean(body.url) || from.config.remote_url !== undefined;
  const isImage = from.config.image !== undefined;
  const isSame = base !== undefined && from.isStored;
  const transport = body.transport || from.transport;
  const kept = base === undefined ? {} : keptFields(base, isSame);
  const loginBase = base?.remote_auth_config ?? {};
  const config = {
    schema_version: RUN_CONFIG_VERSION,
    ...kept,
    ...from.config,
    name: to.name,
    group: body.group ?? 'default',
    transport,
    ...(body.url ? { remote_url: restored('url', restoreText(body.url ?? '', base?.remote_url)) } : {}),
    cmd_args: restored('cmd_arguments', restoreList(body.cmd_arguments ?? from.args, base?.cmd_args)),
    env_vars: { ...from.env, ...restored('env_vars', restoreMap(body.env_vars ?? {}, base?.env_vars)) },
    ...listOf('secrets', [
      ...from.secretRefs,
      ...(body.secrets ?? []).map(({ name, target }) => `${name},target=${target}`),
    ]),
    host: body.host || '127.0.0.1',
    ...portOf(body.proxy_port, to, from.port),
    proxy_mode: body.proxy_mode || 'streamable-http',
    ...(body.target_port || from.targetPort ? { target_port: body.target_port || from.targetPort } : {}),
    ...(isImage ? { isolate_network: body.network_isolation ?? from.isolate } : { isolate_network: false }),
    allow_docker_gateway: body.allow_docker_gateway ?? false,
    trust_proxy_headers: body.trust_proxy_headers ?? false,
    ...listOf('tools_filter', body.tools ?? []),
    ...overridesOf(body.tools_override, base),
    ...(await authorizationOf(body.authz_config, base)),
    ...oidcOf(body.oidc, base),
    ...runtimeOf(body.runtime_config, base, restored),
    ...headersOf(body, base, from, restored),
    ...(body.headers === undefined || body.headers.length === 0 ? {} : { remote_headers: body.headers }),
    ...(await loginOf(
      { ...from.login, ...withoutEmpty(body.oauth_config) },
      isRemote && isSame ? loginBase : {},
      restored,
    )),
    created_at: base === undefined ? new Date(to.nowMs).toISOString() : base.created_at,
  };
  if (!isImage && !isRemote && body.volumes !== undefined && body.volumes.length > 0)
    wrong('volumes', 'is for container images');
  if (!isImage && body.network_isolation === true) wrong('network_isolation', 'is for container images');
  checkHeaders(body, wrong);
  if (errors.length > 0) return { errors };
  const read = runConfig.safeParse(present(config));
  if (!read.success) {
    return { errors: read.error.issues.map(({ path, message }) => fieldProblem(path.join('.'), message)) };
  }
  return { config: read.data, warnings: from.warnings, secrets: await copiedSecrets(read.data) };
}

/** Names of the run configuration that a body calls otherwise. */
const NAMES_IN_BODY: Readonly<Record<string, string>> = {
  ...{ remote_url: 'url', cmd_args: 'cmd_arguments', port: 'proxy_port', isolate_network: 'network_isolation' },
  ...{ tools_filter: 'tools', oidc_config: 'oidc', remote_auth_config: 'oauth_config', remote_headers: 'headers' },
  ...{ authz_config_path: 'authz_config', process: 'image' },
};

/** A fault of the configuration by the name that the body has for the field. */
export function fieldProblem(path: string, detail: string): FieldProblem {
  const [first = '', ...rest] = path.split('.');
  return { in: 'body', path: [NAMES_IN_BODY[first] ?? first, ...rest].join('.'), detail };
}

/** A conflict `field: why` by the name that the body has for the field. */
export function conflictProblem(conflict: string): FieldProblem {
  const colon = conflict.indexOf(': ');
  return colon < 0 ? fieldProblem('', conflict) : fieldProblem(conflict.slice(0, colon), conflict.slice(colon + 2));
}

type Wrong = (path: string, detail: string) => undefined;

/** What runs: `image` and `url` exclude each other. On an edit `registry` and `server` are only an echo. */
function sourceOf(
  { image, url, registry, server }: WorkloadBody,
  base: RunConfig | undefined,
  wrong: Wrong,
): Partial<WorkloadBody> {
  const isEcho = base !== undefined && (server ?? '') === (base.registry_server_name ?? '');
  if (base !== undefined && (server ?? '') !== '' && !isEcho) {
    return wrong('server', 'cannot be changed: delete the workload and create it again') ?? {};
  }
  if (Boolean(registry) !== Boolean(server)) return wrong('server', 'expected registry and server together') ?? {};
  if (image && url) return wrong('url', 'image and url exclude each other') ?? {};
  const isEntry = Boolean(server) && !isEcho;
  if (isEntry && (image || url)) return wrong('server', 'excludes image and url: the entry says what runs') ?? {};
  if (!image && !url && !server) return wrong('image', 'expected image or url, which says what runs') ?? {};
  return {};
}

/** Fields of the stored configuration that a body cannot say. Those of the image count while it stays the same. */
function keptFields(base: RunConfig, isSame: boolean): Partial<RunConfig> {
  return Object.fromEntries(
    Object.entries(base).filter(([name]) => !REPLACED.has(name) && (isSame || !OF_IMAGE.has(name))),
  );
}

/** Fields about the image that a registry or its verification gave. */
const OF_IMAGE: ReadonlySet<string> = new Set([
  ...['image_digest', 'registry_server_name', 'registry_url', 'registry_api_url', 'build_ca_cert', 'stateless'],
]);

/** Fields that a body replaces. */
const REPLACED: ReadonlySet<string> = new Set([
  ...['image', 'process', 'remote_url'],
  ...['env_vars', 'secrets', 'cmd_args', 'port', 'target_port', 'volumes', 'permission_profile'],
  ...['permission_profile_name_or_path', 'tools_filter', 'tools_override', 'authz_config', 'authz_config_path'],
  ...['oidc_config', 'runtime_config', 'remote_auth_config', 'remote_headers', 'header_forward'],
]);

function portOf(given: number | undefined, { base, port }: Conversion, ofEntry: number | undefined) {
  if (base !== undefined && (!given || given === (base.port || port))) {
    return base.port === undefined ? {} : { port: base.port };
  }
  const chosen = given || ofEntry;
  return chosen ? { port: chosen } : {};
}

function overridesOf(given: WorkloadBody['tools_override'], base: RunConfig | undefined) {
  const entries = Object.entries(given ?? {}).map(([tool, { name, description }]) => {
    const annotations = base?.tools_override?.[tool]?.annotations;
    return [tool, present({ name: name || undefined, description: description || undefined, annotations })];
  });
  return entries.length === 0 ? {} : { tools_override: Object.fromEntries(entries) };
}

/** The file is read now; an unchanged path keeps what it contained. */
async function authorizationOf(path: string | undefined, base: RunConfig | undefined) {
  if (path === (base?.authz_config_path ?? '') || !path) {
    return base?.authz_config === undefined || (path === undefined && base.authz_config_path !== undefined)
      ? {}
      : present({ authz_config: base.authz_config, authz_config_path: base.authz_config_path });
  }
  if (!isAbsolute(path)) throw new UsageError('authz_config: expected the absolute path of an authorization file');
  const schema = runConfig.shape.authz_config.unwrap();
  return { authz_config: await readRequestedFile('authz_config', path, schema), authz_config_path: path };
}

function oidcOf(given: WorkloadBody['oidc'], base: RunConfig | undefined) {
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

type Restore = <T>(path: string, outcome: Restored<T>) => T | undefined;

function runtimeOf(given: WorkloadBody['runtime_config'], base: RunConfig | undefined, restored: Restore) {
  const shown = withoutEmpty(given);
  if (Object.keys(shown).length === 0) return {};
  const env =
    shown.runtime_env &&
    restored('runtime_config.runtime_env', restoreMap(shown.runtime_env, base?.runtime_config?.runtime_env));
  return { runtime_config: present({ ...shown, runtime_env: env }) };
}

function headersOf(
  { header_forward: given }: WorkloadBody,
  base: RunConfig | undefined,
  from: { readonly headers: Readonly<Record<string, string>> },
  restored: Restore,
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
async function loginOf(given: Partial<NonNullable<WorkloadBody['oauth_config']>>, base: RemoteAuth, restored: Restore) {
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

function checkHeaders({ headers = [], header_forward: forward }: WorkloadBody, wrong: Wrong): void {
  const plain = new Map(
    Object.entries(forward?.add_plaintext_headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const secret = new Set(Object.keys(forward?.add_headers_from_secret ?? {}).map((name) => name.toLowerCase()));
  headers.forEach(({ name, required, default: value, choices = [] }, index) => {
    const given = plain.get(name.toLowerCase()) ?? (value || undefined);
    if (required === true && given === undefined && !secret.has(name.toLowerCase()))
      wrong(`headers.${index}`, `the required header ${name} has no value: give it in header_forward`);
    if (given !== undefined && choices.length > 0 && !choices.includes(given))
      wrong(`header_forward.add_plaintext_headers.${name}`, `expected one of ${choices.join(', ')}`);
  });
}

function listOf(field: string, values: readonly string[]) {
  return values.length === 0 ? {} : { [field]: [...values] };
}

/** An object of a body without its empty members, which `GET` writes for what is not set. */
function withoutEmpty<T extends object>(value: T | undefined): Partial<T> {
  const entries = Object.entries(value ?? {}).filter(
    ([, member]) =>
      member !== '' &&
      member !== undefined &&
      !(typeof member === 'object' && member !== null && Object.keys(member).length === 0),
  );
  return Object.fromEntries(entries) as Partial<T>;
}

/** The login reads the client secret of a workload where the workload keeps its secrets. */
async function copiedSecrets({ remote_auth_config: auth }: RunConfig): Promise<Readonly<Record<string, string>>> {
  const name = auth?.client_secret?.replace(/,.*$/s, '');
  const value = name === undefined ? undefined : await findUserSecret(name);
  return name === undefined || value === undefined ? {} : { [name]: value };
}
