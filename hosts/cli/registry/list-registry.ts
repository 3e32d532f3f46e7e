import { lookUpEntry, type MergedRegistry, type RegistryEntry, searchEntries } from '@toolmgr/plugins/registry';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { lookUpProblem } from '../../workloads/registry/look-up-problem.ts';
import { type UserRegistry, userRegistry } from '../../workloads/registry/user-registry.ts';

interface ListFlags {
  readonly format: 'text' | 'json';
  readonly refresh?: boolean;
}

/** `toolmgr search`. */
export async function searchRegistry(query: string, flags: ListFlags): Promise<void> {
  const from = await userRegistry();
  const { entries } = await loaded(from, flags);
  const found = searchEntries({ entries }, query);
  if (flags.format === 'text' && found.length === 0) return stderr.line(`${from.title} has no server with ${query}`);
  printEntries(found, flags);
}

/** `toolmgr registry list`. */
export async function listRegistry(flags: ListFlags): Promise<void> {
  const from = await userRegistry();
  const { entries, leftOut } = await loaded(from, flags);
  printEntries(entries, flags);
  if (leftOut.length === 0) return;
  stderr.line(`${leftOut.length} servers of ${from.title} are left out:`);
  for (const { name, reason } of leftOut.slice(0, SHOWN_LEFT_OUT)) stderr.line(`  ${name}: ${reason}`);
  if (leftOut.length > SHOWN_LEFT_OUT) stderr.line(`  and ${leftOut.length - SHOWN_LEFT_OUT} more`);
}

const SHOWN_LEFT_OUT = 10;

/** `toolmgr registry info`. @throws UsageError when there is no such entry */
export async function showEntry(name: string, flags: ListFlags): Promise<void> {
  const from = await userRegistry();
  const registry = await loaded(from, flags);
  const found = lookUpEntry(registry, name);
  if (found.kind !== 'found') throw new UsageError(lookUpProblem(name, from.title, found));
  const { entry } = found;
  if (flags.format === 'json') return stdout.line(JSON.stringify(detailOf(entry), undefined, 2));
  for (const line of columns([...rowsOf(entry), ...registryRows(entry, from, registry)])) stdout.line(line);
}

/** Which registry serves an entry, where there are several. */
function registryRows(
  { name }: RegistryEntry,
  { sources }: UserRegistry,
  registry: MergedRegistry,
): readonly string[][] {
  if (sources.length < 2) return [];
  const { alsoIn = [] } = registry.shadowed.find((each) => each.name === name) ?? {};
  return [
    ['registry', registry.sourceOf(name) ?? ''],
    ...(alsoIn.length === 0 ? [] : [['also in', alsoIn.join(', ')]]),
  ];
}

async function loaded(from: UserRegistry, { refresh = false }: ListFlags): Promise<MergedRegistry> {
  const read = await from.load({ refresh });
  if ('problem' in read) throw new UsageError(read.problem);
  for (const note of read.notes) stderr.line(`${stderr.yellow('warning')} ${note}`);
  return read.registry;
}

function printEntries(entries: readonly RegistryEntry[], { format }: ListFlags): void {
  if (format === 'json') return stdout.line(JSON.stringify(entries.map(summaryOf), undefined, 2));
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
