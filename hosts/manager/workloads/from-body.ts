import { fieldPath, present } from '@toolmgr/core';
import type { FieldProblem } from '@toolmgr/plugins/kit/operations';
import { RUN_CONFIG_VERSION, type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { isNameOfEntry } from '@toolmgr/plugins/registry';
import { API_FIELDS } from '../../workloads/fields/member-schemas.ts';
import { findUserSecret } from '../../workloads/secrets/start-secrets.ts';
import { type BodyProblems, createBodyProblems, fieldProblem } from './body-problems.ts';
import { authorizationOf, fieldsOf, loginOf, overridesOf, sectionsOf, withoutEmpty } from './body-sections.ts';
import { restoreList } from './redaction.ts';
import { type Resolved, resolveImage } from './resolve-image.ts';
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
  const problems = createBodyProblems();
  checkSource(given, to.base, problems);
  if (problems.found.length > 0) return { errors: problems.found };
  const from = await resolveImage(given, to, Boolean(given.url));
  const config = await configOf(given, to, from, problems);
  checkImageFields(given, from, problems);
  checkHeaders(given, problems);
  if (problems.found.length > 0) return { errors: problems.found };
  const read = runConfig.safeParse(present(config));
  if (!read.success) {
    return { errors: read.error.issues.map(({ path, message }) => fieldProblem(fieldPath(path), message)) };
  }
  return { config: read.data, warnings: from.warnings, secrets: await copiedSecrets(read.data) };
}

/** What runs: `image` and `url` exclude each other, and win over the entry. On an edit `registry` and `server` are only an echo. */
function checkSource(
  { image, url, registry, server }: WorkloadBody,
  base: RunConfig | undefined,
  { add }: BodyProblems,
): void {
  if (base !== undefined && server && !isNameOfEntry(server, base.registry_server_name ?? '')) {
    return add('server', 'cannot be changed: delete the workload and create it again');
  }
  if (Boolean(registry) !== Boolean(server)) return add('server', 'expected registry and server together');
  if (image && url) return add('url', 'image and url exclude each other');
  if (!image && !url && !server) add('image', 'expected image or url, which says what runs');
}

/** The configuration before its schema is applied. */
async function configOf(body: WorkloadBody, to: Conversion, from: Resolved, problems: BodyProblems) {
  const { base } = to;
  const isSame = base !== undefined && from.isStored;
  const loginBase = isSame && isRemote(body, from) ? base.remote_auth_config : undefined;
  const fields = fieldsOf('', { ...body }, { ...base }, problems);
  const sections = sectionsOf(body, base, problems);
  const { header_forward: forward } = sections;
  const headers = { ...from.headers, ...forward?.add_plaintext_headers };
  return {
    schema_version: RUN_CONFIG_VERSION,
    ...(base === undefined ? {} : keptFields(base, isSame)),
    ...from.config,
    name: to.name,
    transport: from.transport,
    target_port: from.targetPort || undefined,
    ...fields,
    cmd_args: problems.restored('cmd_arguments', restoreList(body.cmd_arguments ?? from.args, base?.cmd_args)),
    env_vars: { ...from.env, ...(fields.env_vars as RunConfig['env_vars'] | undefined) },
    ...listOf('secrets', [
      ...from.secretRefs,
      ...(body.secrets ?? []).map(({ name, target }) => `${name},target=${target}`),
    ]),
    ...portOf(body.proxy_port, to, from.port),
    isolate_network: isImage(from) && (body.network_isolation ?? from.isolate),
    ...overridesOf(body.tools_override, base),
    ...(await authorizationOf(body.authz_config, base)),
    ...sections,
    ...withoutEmpty({
      header_forward: withoutEmpty({ ...forward, add_plaintext_headers: headers }),
    }),
    ...loginOf({ ...from.login, ...withoutEmpty(body.oauth_config) }, loginBase ?? {}, problems),
    created_at: base === undefined ? new Date(to.nowMs).toISOString() : base.created_at,
  };
}

function isImage({ config }: Resolved): boolean {
  return config.image !== undefined;
}

function isRemote(body: WorkloadBody, { config }: Resolved): boolean {
  return Boolean(body.url) || config.remote_url !== undefined;
}

/** Fields of the stored configuration that a body cannot say. Those of the image count while it stays the same. */
function keptFields(base: RunConfig, isSame: boolean): Partial<RunConfig> {
  return Object.fromEntries(
    Object.entries(base).filter(([name]) => (OF_IMAGE.has(name) ? isSame : !REPLACED.has(name))),
  );
}

/** Fields about the image that a registry or its verification gave. */
const OF_IMAGE: ReadonlySet<string> = new Set([
  ...['image_digest', 'registry_server_name', 'registry_url', 'registry_api_url', 'build_ca_cert', 'stateless'],
]);

/** Fields that a body replaces. */
const REPLACED: ReadonlySet<string> = new Set([
  ...API_FIELDS.map(({ stored = '' }) => stored.split('.', 1)[0] ?? ''),
  ...['image', 'process', 'permission_profile_name_or_path', 'authz_config'],
]);

function portOf(given: number | undefined, { base, port }: Conversion, ofEntry: number | undefined) {
  if (base !== undefined && (!given || given === (base.port || port))) {
    return base.port === undefined ? {} : { port: base.port };
  }
  const chosen = given || ofEntry;
  return chosen ? { port: chosen } : {};
}

function checkImageFields(body: WorkloadBody, from: Resolved, { add }: BodyProblems): void {
  if (isImage(from)) return;
  const { volumes = [], network_isolation: isIsolated } = body;
  if (!isRemote(body, from) && volumes.length > 0) add('volumes', 'is for container images');
  if (isIsolated === true) add('network_isolation', 'is for container images');
}

function checkHeaders({ headers = [], header_forward: forward }: WorkloadBody, { add }: BodyProblems): void {
  const plain = new Map(
    Object.entries(forward?.add_plaintext_headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const secret = new Set(Object.keys(forward?.add_headers_from_secret ?? {}).map((name) => name.toLowerCase()));
  headers.forEach(({ name, required, default: value, choices = [] }, index) => {
    const given = plain.get(name.toLowerCase()) ?? (value || undefined);
    if (required === true && given === undefined && !secret.has(name.toLowerCase()))
      add(`headers[${index}]`, `the required header ${name} has no value: give it in header_forward`);
    if (given !== undefined && choices.length > 0 && !choices.includes(given))
      add(`header_forward.add_plaintext_headers.${name}`, `expected one of ${choices.join(', ')}`);
  });
}

function listOf(field: string, values: readonly string[]) {
  return values.length === 0 ? {} : { [field]: [...values] };
}

/** The login reads the client secret of a workload where the workload keeps its secrets. */
async function copiedSecrets({ remote_auth_config: auth }: RunConfig): Promise<Readonly<Record<string, string>>> {
  const name = auth?.client_secret?.replace(/,.*$/s, '');
  const value = name === undefined ? undefined : await findUserSecret(name);
  return name === undefined || value === undefined ? {} : { [name]: value };
}
