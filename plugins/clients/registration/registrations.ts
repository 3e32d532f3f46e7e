import { withLock } from '@toolmgr/plugins/kit/files';
import {
  changeGroup,
  DEFAULT_GROUP,
  type GroupRecord,
  readGroup,
  readGroups,
  readWorkloads,
  type WorkloadRecord,
} from '@toolmgr/plugins/kit/workloads';
import type { Entry } from '../entry.ts';
import { configPath } from '../table/client-paths.ts';
import { CLIENT_TYPES, type ClientType } from '../table/client-table.ts';
import { type EndpointEntry, readClientRecord, writeClientRecord } from './client-record.ts';
import type { ClientPlaces } from './sync-client.ts';

/** The list of clients of all groups: `clients.registered_clients` of the user's settings. It counts as the group `default`. */
export interface GlobalClients {
  read(): Promise<readonly string[]>;
  remove(type: ClientType): Promise<void>;
}

/** What registrations need. */
export interface RegistrationPlaces extends ClientPlaces {
  readonly global: GlobalClients;
}

/** Every group that exists. */
export async function allGroups(state: string, records?: readonly WorkloadRecord[]): Promise<readonly GroupRecord[]> {
  const used = (records ?? (await readWorkloads(state))).flatMap(({ config }) => config?.group ?? []);
  const names = [...new Set([DEFAULT_GROUP, ...(await readGroups(state)), ...used])].sort();
  const groups = await Promise.all(names.map((name) => readGroup(state, name)));
  return groups.filter((group) => group !== undefined);
}

/** The groups of each registered client, in the order of the table. */
export async function registeredGroups(
  { state, global }: RegistrationPlaces,
  records?: readonly WorkloadRecord[],
): Promise<ReadonlyMap<ClientType, readonly string[]>> {
  const groups = await allGroups(state, records);
  const everywhere = await global.read();
  const found = CLIENT_TYPES.map((type) => {
    const named = groups.filter((group) => group.registered_clients.includes(type)).map(({ name }) => name);
    const isGlobal = everywhere.includes(type) && !named.includes(DEFAULT_GROUP);
    return [type, isGlobal ? [DEFAULT_GROUP, ...named] : named] as const;
  });
  return new Map(found.filter(([, names]) => names.length > 0));
}

/** The entries that a client gets: one for its endpoint, else one for each workload of its groups that is reachable. */
export function wantedEntries(
  groups: readonly string[],
  records: readonly WorkloadRecord[],
  endpoint: EndpointEntry | undefined,
): readonly Entry[] {
  if (groups.length === 0) return [];
  if (endpoint !== undefined) {
    const { headers, ...entry } = endpoint;
    return [headers === undefined ? entry : { ...entry, headers }];
  }
  return records.flatMap(({ name, config, status, alive }) => {
    const isMember = config?.group !== undefined && groups.includes(config.group);
    if (!isMember || !alive || !REACHABLE.has(status.status) || status.url === undefined) return [];
    return [{ name, url: status.url, transport: config.proxy_mode === 'sse' ? 'sse' : 'streamable-http' } as const];
  });
}

/** While the proxy lives its port is taken, so the entry is not stale; entries do not come and go with the health. */
const REACHABLE: ReadonlySet<string> = new Set(['running', 'unhealthy', 'auth_retrying', 'unauthenticated']);

/** Adds a client to groups. Resolves with those that it was not in. */
export async function addToGroups(state: string, type: ClientType, groups: readonly string[]): Promise<string[]> {
  const added: string[] = [];
  for (const group of groups) {
    await changeGroup(state, group, ({ registered_clients: clients }) => {
      if (clients.includes(type)) return undefined;
      added.push(group);
      return { registered_clients: [...clients, type] };
    });
  }
  return added;
}

/** Removes a client from groups. */
export async function removeFromGroups(state: string, type: ClientType, groups: readonly string[]): Promise<void> {
  for (const group of groups) {
    await changeGroup(state, group, ({ registered_clients: clients }) =>
      clients.includes(type) ? { registered_clients: clients.filter((name) => name !== type) } : undefined,
    );
  }
}

/** The endpoint that a client gets instead of workloads. */
export async function endpointOf({ state, user }: ClientPlaces, type: ClientType): Promise<EndpointEntry | undefined> {
  return (await readClientRecord(state, type, configPath(type, user)))?.endpoint;
}

/** Chooses the endpoint of a client; `undefined`: workloads. */
export async function setEndpoint(
  { state, user }: ClientPlaces,
  type: ClientType,
  endpoint: EndpointEntry | undefined,
): Promise<void> {
  const path = configPath(type, user);
  await withLock(state, `.client-${type}`, async () => {
    const { endpoint: before, ...record } = (await readClientRecord(state, type, path)) ?? NO_RECORD(path);
    if (before === undefined && endpoint === undefined) return;
    await writeClientRecord(state, type, { ...record, ...(endpoint === undefined ? {} : { endpoint }) });
  });
}

const NO_RECORD = (path: string) => ({
  path,
  endpoint: undefined,
  isNew: false,
  made: {},
  entries: {},
  pending: false,
});
