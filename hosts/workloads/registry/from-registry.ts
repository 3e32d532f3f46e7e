import { findProgram } from '@toolmgr/plugins';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { PermissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import type { ConfiguredRegistry, ImageServer, RegistryEntry, RemoteServer } from '@toolmgr/plugins/registry';
import { describeSource, isEntryName, lookUpEntry, profileDemands } from '@toolmgr/plugins/registry';
import type { Ask } from '../../shared/ask.ts';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../../workloads/fields/options.ts';
import { lookUpProblem } from './look-up-problem.ts';
import { userRegistry } from './user-registry.ts';

/** What `run` was told, with the settings of the registry where the user gave none. */
export interface FromRegistry {
  /** A URL, `npx://…` and so on, a program or an image. */
  readonly target: string;
  readonly args: readonly string[];
  readonly flags: RunFlags;
  /** The entry; absent when TARGET is not a name of the registry. */
  readonly entry?: RegistryEntry;
  /** Its permission profile, unless the user gave one. */
  readonly profile?: PermissionProfile;
  /** Where the entry is from, for the run configuration. */
  readonly fields: Pick<RunConfig, 'registry_server_name' | 'registry_url' | 'registry_api_url'>;
  /** Why TARGET is no name of the registry: for the message when it is no image either. */
  readonly missed?: string;
  /** Image registries at private addresses may be asked for signatures: the document is the user's own, or the setting allows it. */
  readonly allowsPrivateAddresses?: boolean;
  readonly warnings: readonly string[];
}

/**
 * Looks TARGET up in the registry of the user. The flags and arguments of the user win over the entry.
 *
 * Source: reference run-command §0.2, §0.5.
 * @throws UsageError when the entry cannot be used, or asks for rights of this machine that the user does not confirm
 */
export async function fromRegistry(
  target: string,
  args: readonly string[],
  flags: RunFlags,
  cwd: string,
  ask: Ask | undefined,
): Promise<FromRegistry> {
  const asGiven = { target, args, flags, fields: {} };
  if (!isEntryName(target)) return { ...asGiven, warnings: [] };
  const hasProgram = async () => (await findProgram(target, cwd, process.env.PATH)).kind === 'found';
  if (flags.runtime === 'process' && (await hasProgram())) return { ...asGiven, warnings: [] };
  const registry = await userRegistry();
  const read = await registry.loadFor(target);
  if ('problem' in read) {
    const missed = `${target} was not looked up in a registry (${read.problem})`;
    return { ...asGiven, missed, warnings: [read.problem] };
  }
  const found = lookUpEntry(read.registry, target);
  if (found.kind === 'missing') {
    return { ...asGiven, missed: lookUpProblem(target, registry.title, found), warnings: read.notes };
  }
  if (found.kind !== 'found') throw new UsageError(lookUpProblem(target, registry.title, found));
  const { entry } = found;
  const source = registry.sources.find(({ name }) => name === read.registry.sourceOf(entry.name));
  if (source === undefined) throw new TypeError(`no registry serves ${entry.name}`);
  const title = describeSource(source.source);
  const { alsoIn = [] } = read.registry.shadowed.find(({ name }) => name === entry.name) ?? {};
  const warnings = [
    ...read.notes,
    ...(alsoIn.length === 0
      ? []
      : [`${entry.name} of ${title} is used; ${alsoIn.join(', ')} has a server of this name too`]),
    ...(await entryWarnings(entry, title, hasProgram)),
  ];
  const used =
    entry.image === undefined
      ? remoteUse(entry.name, entry.remote, flags)
      : imageUse(entry.name, entry.image, args, flags);
  const profile = flags.permissionProfile === undefined ? entry.image?.permissions : undefined;
  if (profile !== undefined && flags.runtime !== 'process') await confirmDemands(entry.name, profile, ask);
  return {
    args,
    ...used,
    entry,
    flags: { ...used.flags, name: flags.name ?? entry.name.replace(/[./]/g, '-') },
    ...(profile === undefined ? {} : { profile }),
    fields: fieldsOf(entry.name, source),
    allowsPrivateAddresses: source.allowPrivateAddresses || source.source.type === 'file',
    warnings,
  };
}

async function entryWarnings(
  entry: RegistryEntry,
  title: string,
  hasProgram: () => Promise<boolean>,
): Promise<readonly string[]> {
  const { name, image } = entry;
  const { status = '' } = image ?? entry.remote;
  return [
    ...(status.toLowerCase() === 'deprecated' ? [`${name} is deprecated in ${title}`] : []),
    ...(image?.not_used ?? []).map((what) => `${name} in ${title}: not used: ${what}`),
    ...((await hasProgram())
      ? [`${name} is the server of ${title}; for the program of this name add --runtime process`]
      : []),
  ];
}

function imageUse(name: string, server: ImageServer, args: readonly string[], flags: RunFlags) {
  const transport = flags.transport ?? server.transport;
  const isHttp = transport !== 'stdio';
  if (args.length === 0 && server.required_args !== undefined) {
    throw new UsageError(
      `${name} needs arguments: toolmgr run ${name} -- ${[...(server.args ?? []), ...server.required_args].join(' ')}`,
    );
  }
  return {
    target: server.image,
    args: args.length > 0 ? args : (server.args ?? []),
    flags: {
      ...flags,
      transport,
      proxyPort: flags.proxyPort ?? server.proxy_port,
      targetPort: flags.targetPort ?? (isHttp ? server.target_port : undefined),
      stateless: flags.stateless ?? (transport === 'streamable-http' ? server.stateless : undefined),
    },
  };
}

function remoteUse(name: string, server: RemoteServer, flags: RunFlags) {
  const transport = flags.transport ?? server.transport;
  const headers = { ...headerDefaults(name, server, flags), ...flags.remoteForwardHeaders };
  return {
    target: server.url,
    flags: {
      ...flags,
      transport,
      proxyPort: flags.proxyPort ?? server.proxy_port,
      stateless: flags.stateless ?? (transport === 'streamable-http' ? server.stateless : undefined),
      ...(Object.keys(headers).length === 0 ? {} : { remoteForwardHeaders: headers }),
      ...loginOf(server, flags),
    },
  };
}

/** Headers of a remote entry that have a value. @throws UsageError naming the required ones without one */
function headerDefaults(
  name: string,
  { headers = [] }: RemoteServer,
  flags: RunFlags,
): Readonly<Record<string, string>> {
  const names = Object.keys({ ...flags.remoteForwardHeaders, ...flags.remoteForwardHeadersSecret });
  const given = new Set(names.map((each) => each.toLowerCase()));
  if (flags.remoteAuthBearerToken !== undefined || flags.remoteAuthBearerTokenFile !== undefined)
    given.add('authorization');
  const open = headers.filter((header) => !given.has(header.name.toLowerCase()));
  const missing = open.filter((header) => header.required && header.default === undefined);
  if (missing.length > 0) {
    const names = missing.map((header) =>
      header.secret
        ? `--remote-forward-headers-secret ${header.name}=SECRET_NAME`
        : `--remote-forward-headers ${header.name}=VALUE`,
    );
    throw new UsageError(`${name} needs headers: ${names.join(', ')}`);
  }
  return Object.fromEntries(
    open.flatMap(({ name: header, default: value }) => (value === undefined ? [] : [[header, value]])),
  );
}

/** The login settings of a remote entry; those of the user win, and a bearer token or another issuer takes their place. */
function loginOf({ oauth_config: oauth = {} }: RemoteServer, flags: RunFlags): Partial<RunFlags> {
  const { remoteAuthBearerToken: token, remoteAuthBearerTokenFile: file } = flags;
  if (token !== undefined || file !== undefined) return {};
  const isOwnServer = [flags.remoteAuthIssuer, flags.remoteAuthAuthorizeUrl, flags.remoteAuthTokenUrl].some(
    (each) => each !== undefined,
  );
  const clientId = flags.remoteAuthClientId ?? (isOwnServer ? undefined : oauth.client_id);
  const params = Object.entries(oauth.oauth_params ?? {}).filter(([name]) => !SET_BY_LOGIN.test(name));
  return {
    ...(isOwnServer ? {} : serverOf(oauth, clientId)),
    ...(params.length === 0 ? {} : { remoteAuthParams: Object.fromEntries(params) }),
    remoteAuthClientId: clientId,
    remoteAuthScopes: flags.remoteAuthScopes ?? oauth.scopes,
    remoteAuthResource: flags.remoteAuthResource ?? oauth.resource,
    remoteAuthCallbackPort: flags.remoteAuthCallbackPort ?? oauth.callback_port,
  };
}

/** Parameters of an authorization request that an entry does not change. */
const SET_BY_LOGIN = /^(response_type|client_id|redirect_uri|state|resource|scope|nonce|prompt|code_.*)$/;

/** Endpoints without metadata need a client, because it cannot be registered; without one the server is asked. */
function serverOf(
  oauth: NonNullable<RemoteServer['oauth_config']>,
  clientId: string | undefined,
): Pick<RunFlags, 'remoteAuthIssuer' | 'remoteAuthAuthorizeUrl' | 'remoteAuthTokenUrl'> {
  if (oauth.issuer !== undefined) return { remoteAuthIssuer: oauth.issuer };
  if (clientId === undefined || oauth.authorize_url === undefined || oauth.token_url === undefined) return {};
  return { remoteAuthAuthorizeUrl: oauth.authorize_url, remoteAuthTokenUrl: oauth.token_url };
}

/** Rights of this machine are shown, and used only after a yes. */
async function confirmDemands(name: string, profile: PermissionProfile, ask: Ask | undefined): Promise<void> {
  const demands = profileDemands(profile);
  if (demands.length === 0) return;
  const what = `the registry's permission profile of ${name} asks for ${demands.join(', ')}`;
  if (ask === undefined) {
    throw new UsageError(
      `${what}: give your own --permission-profile, or run this command on a terminal to confirm it`,
    );
  }
  const answer = await ask(`${what}\nallow this? [y/N]: `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError(`${name} was not started`);
}

function fieldsOf(name: string, { source }: ConfiguredRegistry): FromRegistry['fields'] {
  return {
    registry_server_name: name,
    ...(source.type === 'url' ? { registry_url: source.url } : {}),
    ...(source.type === 'api' ? { registry_api_url: source.url } : {}),
  };
}
