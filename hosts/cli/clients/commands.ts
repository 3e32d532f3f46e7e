import { type JsonObject, nearest } from '@toolmgr/core';
import {
  CLIENT_TYPES,
  type ClientRegistration,
  type ClientStatus,
  type ClientType,
  isClientType,
  readEndpointEntry,
  type SyncedClient,
} from '@toolmgr/plugins/clients';
import { userOperations } from '../../manager/commands/user-operations.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

interface Format {
  readonly format: 'text' | 'json';
}

/** Flags of `client register`. */
export interface RegisterFlags extends Format {
  readonly group?: readonly string[];
  readonly endpoint?: string;
  readonly name?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** `toolmgr client list`. */
export async function list({ format }: Format): Promise<void> {
  const registered = (await (await clients())('listClients')) as readonly ClientRegistration[];
  if (format === 'json') return stdout.json(registered);
  if (registered.length === 0) return stderr.line(`no clients; register one: ${ownCommand('client register NAME')}`);
  const rows = registered.map(({ name, groups }) => [name, groups.join(', ')]);
  for (const line of columns([['CLIENT', 'GROUPS'], ...rows])) stdout.line(line);
}

/** `toolmgr client status`. */
export async function status({ format }: Format): Promise<void> {
  const body = (await (await clients())('listClientStatuses')) as { readonly clients: readonly ClientStatus[] };
  if (format === 'json') return stdout.json(body.clients);
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  const rows = body.clients.map((each) => [each.client_type, yes(each.installed), yes(each.registered)]);
  for (const line of columns([['CLIENT', 'INSTALLED', 'REGISTERED'], ...rows])) stdout.line(line);
}

/** `toolmgr client register`. @throws UsageError when nothing was written; the message says why */
export async function register(given: readonly string[], flags: RegisterFlags): Promise<void> {
  await change('register', flags, {
    names: typesFrom(given),
    ...(flags.group === undefined ? {} : { groups: flags.group }),
    ...(await endpointFrom(flags)),
    ...(flags.force === undefined ? {} : { force: flags.force }),
  });
}

/** `toolmgr client unregister`. @throws UsageError when a client or group is unknown */
export async function unregister(
  given: readonly string[],
  flags: Format & { readonly group?: readonly string[]; readonly dryRun?: boolean },
): Promise<void> {
  const groups = flags.group === undefined ? {} : { groups: flags.group };
  await change('unregister', flags, { names: typesFrom(given), ...groups });
}

/** Shows what a registration, or its removal, writes; does it unless it is a dry run. */
async function change(
  action: 'register' | 'unregister',
  { format, dryRun = false }: Format & { readonly dryRun?: boolean },
  wish: JsonObject,
): Promise<void> {
  const call = await clients();
  const changes = (await call('previewClients', { action, ...wish })) as readonly SyncedClient[];
  if (!dryRun) await call(`${action}Clients`, wish);
  printChanges(changes, format, dryRun);
}

const clients = () => userOperations('clients');

function typesFrom(given: readonly string[]): readonly ClientType[] {
  return given.map((name) => {
    if (isClientType(name)) return name;
    const hint = nearest(name, CLIENT_TYPES);
    const known = hint === undefined ? `known: ${CLIENT_TYPES.join(', ')}` : `did you mean ${hint}?`;
    throw new UsageError(`there is no client ${printable(name)} (${known})`);
  });
}

async function endpointFrom({ endpoint: url, name }: RegisterFlags) {
  if (url === undefined) {
    if (name !== undefined) throw new UsageError('--name is for --endpoint: entries of workloads have their names');
    return {};
  }
  const read = await readEndpointEntry({ url, ...(name === undefined ? {} : { name }) });
  if (read.success) return { endpoint: read.data };
  const [issue] = read.error.issues;
  throw new UsageError(`--${issue?.path[0] === 'name' ? 'name' : 'endpoint'}: ${issue?.message ?? 'is not valid'}`);
}

function printChanges(changes: readonly SyncedClient[], format: Format['format'], isDry: boolean): void {
  if (format === 'json') return stdout.json(changes);
  for (const { client, path, added, updated, removed, conflicts, diff } of changes) {
    for (const { name, why } of conflicts)
      stderr.line(`${stderr.yellow('warning')} ${client}: the entry ${name} stays as it is: ${why}`);
    const done = [
      ['adds', 'added', added],
      ['updates', 'updated', updated],
      ['removes', 'removed', removed],
    ] as const;
    const parts = done.flatMap(([would, did, names]) =>
      names.length === 0 ? [] : [`${isDry ? would : did} ${names.join(', ')}`],
    );
    stdout.line(`${client}: ${parts.join('; ') || 'nothing to change'} (${path})`);
    if (isDry && diff !== '') for (const line of diff.split('\n')) stdout.line(printable(line));
  }
}
