import { lookUpEntry, type RegistryEntry } from '@toolmgr/plugins/registry';
import { type CallOperation, userOperations } from '../../manager/commands/user-operations.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { lookUpProblem } from '../../workloads/registry/look-up-problem.ts';
import { userRegistry } from '../../workloads/registry/user-registry.ts';

interface ListFlags {
  readonly format: 'text' | 'json';
  readonly refresh?: boolean;
}

/** Servers as the operation `listServersOfRegistry` answers. */
interface ListedServers {
  readonly servers: readonly ({ readonly name: string } & NonNullable<RegistryEntry['image']>)[];
  readonly remote_servers: readonly ({ readonly name: string } & NonNullable<RegistryEntry['remote']>)[];
  readonly left_out: readonly { readonly name: string; readonly reason: string }[];
  readonly shadowed: readonly {
    readonly name: string;
    readonly served_by: string;
    readonly also_in: readonly string[];
  }[];
  readonly notes: readonly string[];
}

/** `toolmgr search`. */
export async function searchRegistry(query: string, flags: ListFlags): Promise<void> {
  const { title } = await userRegistry();
  const { entries } = await listed(await userOperations('registry'), flags, query);
  if (flags.format === 'text' && entries.length === 0) return stderr.line(`${title} has no server with ${query}`);
  printEntries(entries, flags);
}

/** `toolmgr registry list`. */
export async function listRegistry(flags: ListFlags): Promise<void> {
  const { title } = await userRegistry();
  const { entries, left_out: leftOut } = await listed(await userOperations('registry'), flags);
  printEntries(entries, flags);
  if (leftOut.length === 0) return;
  stderr.line(`${leftOut.length} servers of ${title} are left out:`);
  for (const { name, reason } of leftOut.slice(0, SHOWN_LEFT_OUT)) stderr.line(`  ${name}: ${reason}`);
  if (leftOut.length > SHOWN_LEFT_OUT) stderr.line(`  and ${leftOut.length - SHOWN_LEFT_OUT} more`);
}

const SHOWN_LEFT_OUT = 10;

/** `toolmgr registry info`. @throws UsageError when there is no such entry */
export async function showEntry(name: string, flags: ListFlags): Promise<void> {
  const { title, sources } = await userRegistry();
  const call = await userOperations('registry');
  const registry = await listed(call, flags);
  const found = lookUpEntry({ entries: registry.entries, leftOut: registry.left_out }, name);
  if (found.kind !== 'found') throw new UsageError(lookUpProblem(name, title, found));
  const { entry } = found;
  if (flags.format === 'json') return stdout.json(detailOf(entry));
  const names = sources.length < 2 ? [] : sources.map((source) => source.name);
  for (const line of columns([...rowsOf(entry), ...(await registryRows(call, entry, registry, names))]))
    stdout.line(line);
}

/** Which registry serves an entry, where there are several. */
async function registryRows(
  call: CallOperation,
  { name }: RegistryEntry,
  { shadowed }: ListedServers,
  registries: readonly string[],
): Promise<readonly string[][]> {
  const found = shadowed.find((each) => each.name === name);
  if (found !== undefined) {
    return [
      ['registry', found.served_by],
      ['also in', found.also_in.join(', ')],
    ];
  }
  for (const registry of registries) {
    const own = await call('listServersOfRegistry', { name: registry, q: name }).catch(() => undefined);
    const { servers = [], remote_servers = [] } = (own ?? {}) as Partial<ListedServers>;
    if ([...servers, ...remote_servers].some((each) => each.name === name)) return [['registry', registry]];
  }
  return [];
}

/** The servers that match, sorted by name, after the notes about the copy were printed. */
async function listed(call: CallOperation, { refresh = false }: ListFlags, q?: string) {
  if (refresh) await call('refreshRegistry', { name: 'default' });
  const found = (await call('listServersOfRegistry', {
    name: 'default',
    ...(q === undefined ? {} : { q }),
  })) as ListedServers;
  for (const note of found.notes) stderr.line(`${stderr.yellow('warning')} ${note}`);
  const entries: readonly RegistryEntry[] = [
    ...found.servers.map(({ name, ...image }) => ({ name, image })),
    ...found.remote_servers.map(({ name, ...remote }) => ({ name, remote })),
  ];
  return { ...found, entries: entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

function printEntries(entries: readonly RegistryEntry[], { format }: ListFlags): void {
  if (format === 'json') return stdout.json(entries.map(summaryOf));
  const rows = entries.map((entry) => {
    const { name, type, transport, description } = summaryOf(entry);
    return [name, type, transport, description.split('\n')[0] ?? ''];
  });
  for (const line of columns([['NAME', 'TYPE', 'TRANSPORT', 'DESCRIPTION'], ...rows])) stdout.line(line);
}

function summaryOf(entry: RegistryEntry) {
  const { title, description, tier, status, transport, tags = [], tools = [] } = entry.image ?? entry.remote;
  return {
    name: entry.name,
    type: typeOf(entry),
    ...(entry.image === undefined ? { url: entry.remote.url } : { image: entry.image.image }),
    ...{ transport, title, description, tier, status, tags, tools },
  };
}

function typeOf({ image }: RegistryEntry): 'image' | 'package' | 'remote' {
  if (image === undefined) return 'remote';
  return image.image.includes('://') ? 'package' : 'image';
}

/** The form of the contract's "Get a server from a registry". */
function detailOf(entry: RegistryEntry) {
  const { name } = entry;
  return entry.image === undefined
    ? { is_remote: true, remote_server: { name, ...entry.remote } }
    : { is_remote: false, server: { name, ...entry.image } };
}

function rowsOf(entry: RegistryEntry): readonly (readonly string[])[] {
  const { image, remote } = entry;
  const { title, description, status, tier, transport, repository_url, tools = [], env_vars = [] } = image ?? remote;
  const optional: readonly (readonly [string, string | undefined])[] = [
    ['name', entry.name],
    ['title', title],
    ['description', description],
    ['status', status],
    ['tier', tier],
    ['type', typeOf(entry)],
    ['runs', image?.image ?? remote?.url],
    ['transport', transport],
    ['target port', image?.target_port?.toString()],
    ['arguments', image?.args?.join(' ')],
    ['you give', image?.required_args === undefined ? undefined : `-- ${image.required_args.join(' ')}`],
    ['not used', image?.not_used?.join('; ')],
    ['repository', repository_url],
    ['tools', tools.length === 0 ? undefined : tools.join(', ')],
    ['permissions', image?.permissions === undefined ? undefined : JSON.stringify(image.permissions)],
    ['signed by', image?.provenance?.signer_identity ?? image?.provenance?.repository_uri],
  ];
  return [
    ...optional.flatMap(([key, value]) => (value === undefined || value === '' ? [] : [[key, value]])),
    ...env_vars.map(({ name, required, secret, description: meaning = '' }) => [
      'variable',
      `${name}${required ? ' (required)' : ''}${secret ? ' (secret)' : ''} ${meaning}`.trimEnd(),
    ]),
    ...(remote?.headers ?? []).map(({ name, required, description: meaning = '' }) => [
      'header',
      `${name}${required ? ' (required)' : ''} ${meaning}`.trimEnd(),
    ]),
  ];
}
