import { isDeepStrictEqual } from 'node:util';
import { present } from '@toolmgr/core';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { canBeIsolated, type PermissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { isNameOfEntry, type RegistryEntry } from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';
import { secretTargetOf } from '../../workloads/config/collect-secrets.ts';
import { containerFromFlags } from '../../workloads/config/container-from-flags.ts';
import { readTarget } from '../../workloads/config/target.ts';
import { API_FIELDS, placeOf } from '../../workloads/fields/member-schemas.ts';
import { fallbackFlags, flagOf, type RunFlags } from '../../workloads/fields/options.ts';
import { checkImage } from '../../workloads/planning/check-image.ts';
import { checkToolNames } from '../../workloads/registry/check-tool-names.ts';
import { entryValues } from '../../workloads/registry/entry-values.ts';
import { type FromRegistry, fromRegistry } from '../../workloads/registry/from-registry.ts';
import { findUserSecret } from '../../workloads/secrets/start-secrets.ts';
import { isEmpty } from './body-sections.ts';
import { imageOf } from './detail.ts';
import { redactUrl, valueAt } from './redaction.ts';
import type { WorkloadBody } from './workload-body.ts';

/** A registry entry, program or image that does not exist. */
export class SourceNotFound extends UsageError {}

/** What runs, and what its registry entry gives where the body says nothing. */
export interface Resolved {
  /** It is what the edited workload runs already. */
  readonly isStored: boolean;
  readonly config: Partial<RunConfig>;
  readonly transport: RunConfig['transport'];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secretRefs: readonly string[];
  readonly port?: number | undefined;
  readonly targetPort?: number | undefined;
  /** Default of `network_isolation`. */
  readonly isolate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly login: Partial<NonNullable<WorkloadBody['oauth_config']>>;
  readonly warnings: readonly string[];
}

/**
 * Finds what a body runs: the same code as `toolmgr run` for registry entries, images and packages.
 * @throws UsageError when it cannot be run; SourceNotFound when there is no such entry or image
 */
export async function resolveImage(
  body: WorkloadBody,
  { name, base }: { readonly name: string; readonly base?: RunConfig },
  isRemote: boolean,
): Promise<Resolved> {
  const ofUrl = isRemote ? remote(body, base) : undefined;
  if (ofUrl !== undefined && (base !== undefined || !body.server)) return ofUrl;
  if (base !== undefined && body.image === imageOf(base)) return stored(body, base);
  const flags = flagsOf(name, body);
  const wanted = body.server || body.image || '';
  if (/^https?:/i.test(body.image ?? ''))
    throw new UsageError('image: expected an image or a package; a URL is given in url');
  const from = await fromRegistry(wanted, body.cmd_arguments ?? [], flags, '/', undefined);
  if (body.server && from.entry === undefined) throw new SourceNotFound(from.missed ?? `there is no entry ${wanted}`);
  checkKind(body, from);
  const isNamed = from.entry !== undefined && isNameOfEntry(body.image ?? '', from.entry.name);
  const target = (isNamed ? '' : body.image) || body.url || from.target;
  const read = await readTarget(target, [], '/', isSchemeTarget(target) ? undefined : 'container');
  if (read.kind === 'refused') throw new SourceNotFound(from.missed ?? `image: ${read.reason}`);
  const warnings = [...from.warnings];
  const common = { ...NOTHING, isStored: false, args: from.args, ...valuesOfFlags(from) };
  if (read.kind === 'url') {
    const values = await valuesOf(from.entry, body, from);
    return {
      ...common,
      ...values,
      config: { ...from.fields, remote_url: read.url },
      transport: from.flags.transport ?? 'streamable-http',
      warnings,
    };
  }
  if (read.kind === 'command') {
    if (profileOf(body) !== undefined) throw new UsageError(NO_PROFILE);
    warnings.push(...(read.warnings ?? []));
    const values = await valuesOf(from.entry, body, from);
    const config = {
      process: { target, file: read.command.file, args: [...read.command.args], cwd: '/' },
      ...from.fields,
      ...present({ stateless: from.flags.stateless }),
    };
    return {
      ...common,
      ...values,
      config,
      env: { ...read.env, ...values.env },
      transport: from.flags.transport ?? 'stdio',
      warnings,
    };
  }
  const container = await containerFromFlags(
    read.image,
    withoutProfile(from.flags),
    '/',
    warnings,
    profileOf(body) ?? from.profile,
  );
  const checked = await checkImage({ image: read.image }, from, 'warn');
  if (checked.warning !== undefined) warnings.push(checked.warning);
  const values = await valuesOf(from.entry, body, from);
  const transport = from.flags.transport ?? (read.isPackage ? 'stdio' : 'streamable-http');
  return {
    ...common,
    ...values,
    config: {
      ...container,
      ...from.fields,
      ...present({ image_digest: checked.digest, stateless: from.flags.stateless }),
    },
    transport,
    isolate: container.isolate_network,
    warnings,
  };
}

/** What a body says itself takes the place of what its entry says, not of its kind. */
function checkKind({ image, url, server }: WorkloadBody, { entry }: FromRegistry): void {
  if (entry?.remote !== undefined && image) throw new UsageError(`image: ${server} is a remote server: give its url`);
  if (entry?.image !== undefined && url) throw new UsageError(`url: ${server} is no remote server: give its image`);
}

const NOTHING = {
  isStored: true,
  args: [],
  env: {},
  secretRefs: [],
  isolate: false,
  headers: {},
  login: {},
  warnings: [],
} as const;

function remote({ url = '' }: WorkloadBody, base: RunConfig | undefined): Resolved {
  const isStored = base?.remote_url !== undefined && redactUrl(base.remote_url) === url;
  if (!isStored && !URL.canParse(url)) throw new UsageError('url: expected an http or https URL');
  const parsed = isStored ? undefined : new URL(url);
  if (parsed !== undefined && !/^https?:$/.test(parsed.protocol))
    throw new UsageError('url: expected an http or https URL');
  if (parsed !== undefined && (parsed.username !== '' || parsed.password !== ''))
    throw new UsageError('url: must not hold a user name or password: it would appear in logs');
  const path = new URL(isStored ? (base.remote_url ?? url) : url).pathname;
  return { ...NOTHING, isStored, config: {}, transport: /\/sse\/?$/.test(path) ? 'sse' : 'streamable-http' };
}

/** The image stays; its rights and mounts may change. */
async function stored(body: WorkloadBody, base: RunConfig): Promise<Resolved> {
  const transport = base.process === undefined && !isSchemeTarget(base.image ?? '') ? 'streamable-http' : 'stdio';
  if (base.image === undefined) {
    if (profileOf(body) !== undefined) throw new UsageError(NO_PROFILE);
    return { ...NOTHING, config: present({ process: base.process, pod: base.pod }), transport };
  }
  const { permission_profile, permission_profile_name_or_path, volumes, isolate_network } = base;
  const isolate = canBeIsolated(body.permission_profile?.network?.mode);
  const isSame =
    isDeepStrictEqual(profileOf(body) ?? {}, permission_profile ?? {}) &&
    isDeepStrictEqual(body.volumes ?? [], volumes ?? []) &&
    (body.network_isolation ?? isolate) === isolate_network &&
    (body.allow_docker_gateway ?? false) === base.allow_docker_gateway;
  if (isSame) {
    const kept = present({ permission_profile, permission_profile_name_or_path, volumes });
    return { ...NOTHING, config: { image: base.image, ...kept }, transport, isolate: isolate_network };
  }
  const warnings: string[] = [];
  const flags = flagsOf(base.name, body);
  const { ignore_config: _, ...container } = await containerFromFlags(
    base.image,
    withoutProfile(flags),
    '/',
    warnings,
    profileOf(body),
  );
  return { ...NOTHING, config: container, transport, isolate: container.isolate_network, warnings };
}

/** The profile of a body; the empty one of a workload without a profile is none. */
function profileOf({ permission_profile: given }: WorkloadBody): PermissionProfile | undefined {
  if (given === undefined) return undefined;
  const { read, write, privileged, ...more } = given;
  const isEmpty = read.length === 0 && write.length === 0 && !privileged && Object.keys(more).length === 0;
  return isEmpty ? undefined : given;
}

/** The members of a body as flags of `run`, which decide what a registry entry gives. Of a secret or a profile only that it is given. */
function flagsOf(name: string, body: WorkloadBody): RunFlags {
  const relative = (body.volumes ?? []).find((volume) => !/^([A-Za-z]:)?[\\/]/.test(volume));
  if (relative !== undefined) throw new UsageError(`volumes: ${relative}: expected absolute paths: /host:/container`);
  const given = API_FIELDS.flatMap(({ flags, as, body: { name: place } }) => {
    const value = valueAt(body, place);
    return flags === undefined || (isEmpty(value) && value !== false)
      ? []
      : [[flagOf({ flags }), as === 'secret' ? GIVEN : value]];
  });
  const permissionProfile = profileOf(body) === undefined ? undefined : GIVEN;
  return present({ ...fallbackFlags(), ...Object.fromEntries(given), name, permissionProfile }) as RunFlags;
}

const GIVEN = 'given in the body';
const NO_PROFILE = 'permission_profile: is for container images; this one runs as a process with your rights';

function withoutProfile({ permissionProfile: _, ...flags }: RunFlags): RunFlags {
  return flags;
}

/** What an entry of a remote server gives; for the login, the members of a body that its options mean. */
function valuesOfFlags({ flags }: FromRegistry) {
  const login = API_FIELDS.flatMap(({ flags: option, body, as }) => {
    const [section, name] = placeOf(body.name);
    const isOther = option === undefined || section !== 'oauth_config' || as === 'secret';
    return isOther ? [] : [[name, flags[flagOf({ flags: option })]]];
  });
  return {
    port: flags.proxyPort,
    targetPort: flags.targetPort,
    headers: flags.remoteForwardHeaders ?? {},
    login: present({ ...Object.fromEntries(login), oauth_params: flags.remoteAuthParams }) as Resolved['login'],
  };
}

/** Values of the variables of an entry: secrets of the user by reference. @throws UsageError naming those that are missing */
async function valuesOf(entry: RegistryEntry | undefined, body: WorkloadBody, { fields }: FromRegistry) {
  if (entry === undefined) return {};
  const overrides = (body.tools_override ?? {}) as NonNullable<RunConfig['tools_override']>;
  checkToolNames(entry, { tools_filter: body.tools ?? [], tools_override: overrides });
  const references = (body.secrets ?? []).map(({ name, target }) => `${name},target=${target}`);
  const isForeign = fields.registry_url !== undefined || fields.registry_api_url !== undefined;
  const targets = new Set(references.map(secretTargetOf));
  const given = { env_vars: body.env_vars ?? {} };
  const {
    env,
    secrets,
    stored: known,
  } = await entryValues(entry, given, targets, findUserSecret, undefined, isForeign);
  const names = Object.keys(secrets);
  return {
    // a default of a secret variable is published with the entry, and no secret
    env: {
      ...env,
      ...Object.fromEntries(names.filter((name) => !known.has(name)).map((name) => [name, secrets[name] ?? ''])),
    },
    secretRefs: names.filter((name) => known.has(name)).map((name) => `${name},target=${name}`),
  };
}
