import { nearest } from '@toolmgr/core';
import {
  CLIENT_TYPES,
  type ClientRefusal,
  type ClientType,
  clientStatuses,
  endpointEntry,
  isClientType,
  listRegistrations,
  previewRegistration,
  registerClients,
  type SyncedClient,
  unregisterClients,
} from '@toolmgr/plugins/clients';
import { stateDir } from '@toolmgr/plugins/workloads/state';
import { clientPlaces } from '../../shared/clients/client-places.ts';
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
  const registered = await listRegistrations(clientPlaces(stateDir()));
  if (format === 'json') return printJson(registered);
  if (registered.length === 0) return stderr.line(`no clients; register one: ${ownCommand('client register NAME')}`);
  const rows = registered.map(({ name, groups }) => [name, groups.join(', ')]);
  for (const line of columns([['CLIENT', 'GROUPS'], ...rows])) stdout.line(line);
}

/** `toolmgr client status`. */
export async function status({ format }: Format): Promise<void> {
  const clients = await clientStatuses(clientPlaces(stateDir()));
  if (format === 'json') return printJson(clients);
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  const rows = clients.map(({ client_type, installed, registered }) => [client_type, yes(installed), yes(registered)]);
  for (const line of columns([['CLIENT', 'INSTALLED', 'REGISTERED'], ...rows])) stdout.line(line);
}

/** `toolmgr client register`. @throws UsageError when nothing was written; the message says why */
export async function register(given: readonly string[], flags: RegisterFlags): Promise<void> {
  const wish = {
    names: typesFrom(given),
    groups: flags.group,
    endpoint: endpointFrom(flags),
    force: flags.force,
  };
  const places = clientPlaces(stateDir());
  if (flags.dryRun) return printChanges(accepted(await previewRegistration(places, wish)), flags.format, true);
  const done = accepted(await registerClients(places, wish));
  printChanges(done.files, flags.format, false);
}

/** `toolmgr client unregister`. @throws UsageError when a client or group is unknown */
export async function unregister(
  given: readonly string[],
  { group, dryRun = false, format }: Format & { readonly group?: readonly string[]; readonly dryRun?: boolean },
): Promise<void> {
  const places = clientPlaces(stateDir());
  const done = accepted(await unregisterClients(places, { names: typesFrom(given), groups: group, dryRun }));
  printChanges(done, format, dryRun);
}

function typesFrom(given: readonly string[]): readonly ClientType[] {
  return given.map((name) => {
    if (isClientType(name)) return name;
    const hint = nearest(name, CLIENT_TYPES);
    const known = hint === undefined ? `known: ${CLIENT_TYPES.join(', ')}` : `did you mean ${hint}?`;
    throw new UsageError(`there is no client ${printable(name)} (${known})`);
  });
}

function endpointFrom({ endpoint: url, name }: RegisterFlags) {
  if (url === undefined) {
    if (name !== undefined) throw new UsageError('--name is for --endpoint: entries of workloads have their names');
    return undefined;
  }
  const read = endpointEntry.safeParse({ url, ...(name === undefined ? {} : { name }) });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`--${issue?.path[0] === 'name' ? 'name' : 'endpoint'}: ${issue?.message ?? 'is not valid'}`);
}

function accepted<T extends object>(result: T | ClientRefusal): T {
  if ('refused' in result) throw new UsageError((result as ClientRefusal).detail);
  return result;
}

function printChanges(changes: readonly SyncedClient[], format: Format['format'], isDry: boolean): void {
  if (format === 'json') return printJson(changes);
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

function printJson(value: unknown): void {
  stdout.line(JSON.stringify(value, undefined, 2));
}
