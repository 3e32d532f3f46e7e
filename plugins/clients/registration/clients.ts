import { explainCause } from '@toolmgr/core';
import { DEFAULT_GROUP, readWorkloads, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { headersProblem } from '../entry.ts';
import { UnreadableText } from '../file/edit-client-file.ts';
import { ClientFileError } from '../file/read-client-file.ts';
import { isInstalled, supportsSkills } from '../table/client-paths.ts';
import { CLIENT_TYPES, type ClientType, clientRow } from '../table/client-table.ts';
import { type EndpointEntry, recordedClients } from './client-record.ts';
import {
  addToGroups,
  allGroups,
  endpointOf,
  type RegistrationPlaces,
  registeredGroups,
  removeFromGroups,
  setEndpoint,
  wantedEntries,
} from './registrations.ts';
import { type SyncedClient, type SyncOptions, syncClient } from './sync-client.ts';

/** Status of one client. Source: workload API spec §2 "Client status". */
export interface ClientStatus {
  readonly client_type: ClientType;
  readonly installed: boolean;
  readonly registered: boolean;
  readonly supports_plugins: boolean;
  readonly supports_skills: boolean;
}

/** A registered client. */
export interface ClientRegistration {
  readonly name: ClientType;
  readonly groups: readonly string[];
}

/** Why clients were not changed. Nothing was written. */
export type ClientRefusal =
  | { readonly refused: 'invalid'; readonly detail: string }
  | { readonly refused: 'unknown-group'; readonly detail: string }
  | { readonly refused: 'conflict'; readonly detail: string }
  /** The file of a client is not valid: the detail has the position. */
  | { readonly refused: 'bad-file'; readonly detail: string }
  | { readonly refused: 'failed'; readonly detail: string };

/** What a registration asks for. */
export interface RegisterWish {
  readonly names: readonly ClientType[];
  /** Default: the group `default`. */
  readonly groups?: readonly string[] | undefined;
  /** One entry for this endpoint instead of one for each workload. */
  readonly endpoint?: EndpointEntry | undefined;
  /** Overwrites entries that toolmgr did not write. */
  readonly force?: boolean | undefined;
}

/** Registrations that were made, and what was written into the files of the clients. */
export interface Registered {
  readonly registrations: readonly ClientRegistration[];
  readonly files: readonly SyncedClient[];
}

/** Status of every client, in the order of the table. */
export async function clientStatuses(places: RegistrationPlaces): Promise<readonly ClientStatus[]> {
  const registered = await registeredGroups(places);
  return Promise.all(
    CLIENT_TYPES.map(async (type) => ({
      client_type: type,
      installed: await isInstalled(type, places.user),
      registered: registered.has(type),
      supports_plugins: clientRow(type).supportsPlugins,
      supports_skills: supportsSkills(type),
    })),
  );
}

/** The registered clients with their groups, in the order of the table. */
export async function listRegistrations(places: RegistrationPlaces): Promise<readonly ClientRegistration[]> {
  const registered = await registeredGroups(places);
  return [...registered].map(([name, groups]) => ({ name, groups }));
}

/** What a registration would write. */
export async function previewRegistration(
  places: RegistrationPlaces,
  wish: RegisterWish,
): Promise<readonly SyncedClient[] | ClientRefusal> {
  const problem = await wishProblem(places, wish);
  if (problem !== undefined) return problem;
  return guarded(() => planned(places, wish));
}

/**
 * Registers clients with groups and writes the entries of their workloads. Nothing is changed when a file is not valid, or has
 * an entry of the user under a name that is needed.
 */
export async function registerClients(
  places: RegistrationPlaces,
  wish: RegisterWish,
): Promise<Registered | ClientRefusal> {
  const problem = await wishProblem(places, wish);
  if (problem !== undefined) return problem;
  const plans = await guarded(() => planned(places, wish));
  if ('refused' in plans) return plans;
  const conflict = plans.find(({ conflicts }) => conflicts.length > 0);
  if (conflict !== undefined && !wish.force) return { refused: 'conflict', detail: conflictText(conflict) };
  const groups = wish.groups ?? [DEFAULT_GROUP];
  const files: SyncedClient[] = [];
  for (const type of new Set(wish.names)) {
    const before = await endpointOf(places, type);
    const added = await addToGroups(places.state, type, groups);
    if (wish.endpoint !== undefined || (before !== undefined && added.length > 0))
      await setEndpoint(places, type, wish.endpoint);
    const options = { restores: true, ...(wish.force ? { force: true } : {}) };
    const written = await guarded(() => syncRegistered(places, type, options));
    if ('refused' in written) {
      await removeFromGroups(places.state, type, added);
      await setEndpoint(places, type, before);
      return written;
    }
    files.push(written);
  }
  const registered = await registeredGroups(places);
  const registrations = [...new Set(wish.names)].map((name) => ({ name, groups: registered.get(name) ?? [] }));
  return { registrations, files };
}

/** Removes clients from groups, or from all of them, and the entries that they no longer get. */
export async function unregisterClients(
  places: RegistrationPlaces,
  {
    names,
    groups,
    dryRun,
  }: {
    readonly names: readonly ClientType[];
    readonly groups?: readonly string[] | undefined;
    readonly dryRun?: boolean;
  },
): Promise<readonly SyncedClient[] | ClientRefusal> {
  const unknown = await unknownGroups(places, groups ?? []);
  if (unknown !== undefined) return unknown;
  return guarded(async () => {
    const files: SyncedClient[] = [];
    for (const type of new Set(names)) {
      const now = (await registeredGroups(places)).get(type) ?? [];
      const left = groups === undefined ? [] : now.filter((group) => !groups.includes(group));
      if (!dryRun) {
        await removeFromGroups(places.state, type, groups ?? (await allGroups(places.state)).map(({ name }) => name));
        if (groups === undefined || groups.includes(DEFAULT_GROUP)) await places.global.remove(type);
        if (left.length === 0) await setEndpoint(places, type, undefined);
      }
      const endpoint = left.length === 0 ? undefined : await endpointOf(places, type);
      const wanted = wantedEntries(left, await readWorkloads(places.state), endpoint);
      files.push(await syncClient(places, type, wanted, { dryRun: dryRun === true }));
    }
    return files;
  });
}

/** Makes the file of a client hold what its groups say now. */
export async function syncRegistered(
  places: RegistrationPlaces,
  type: ClientType,
  options: SyncOptions = {},
  records?: readonly WorkloadRecord[],
): Promise<SyncedClient> {
  const all = records ?? (await readWorkloads(places.state));
  const groups = (await registeredGroups(places, all)).get(type) ?? [];
  return syncClient(places, type, wantedEntries(groups, all, await endpointOf(places, type)), options);
}

/** The clients whose files may have to change: registered ones, and those with entries of toolmgr. */
export async function followedClients(
  places: RegistrationPlaces,
  records?: readonly WorkloadRecord[],
): Promise<readonly ClientType[]> {
  const registered = await registeredGroups(places, records);
  const recorded = new Set(await recordedClients(places.state));
  return CLIENT_TYPES.filter((type) => registered.has(type) || recorded.has(type));
}

async function planned(places: RegistrationPlaces, wish: RegisterWish): Promise<readonly SyncedClient[]> {
  const records = await readWorkloads(places.state);
  const registered = await registeredGroups(places, records);
  const plans: SyncedClient[] = [];
  for (const type of new Set(wish.names)) {
    const groups = [...(registered.get(type) ?? []), ...(wish.groups ?? [DEFAULT_GROUP])];
    const wanted = wantedEntries(groups, records, wish.endpoint);
    const options = { dryRun: true, restores: true, ...(wish.force ? { force: true } : {}) };
    plans.push(await syncClient(places, type, wanted, options));
  }
  return plans;
}

async function wishProblem(places: RegistrationPlaces, wish: RegisterWish): Promise<ClientRefusal | undefined> {
  for (const type of wish.names) {
    const detail = headersProblem(type, wish.endpoint?.headers ?? {});
    if (detail !== undefined) return { refused: 'invalid', detail };
  }
  return unknownGroups(places, wish.groups ?? []);
}

async function unknownGroups(
  { state }: RegistrationPlaces,
  wanted: readonly string[],
): Promise<ClientRefusal | undefined> {
  const known = new Set((await allGroups(state)).map(({ name }) => name));
  const missing = wanted.find((group) => !known.has(group));
  return missing === undefined ? undefined : { refused: 'unknown-group', detail: `there is no group ${missing}` };
}

function conflictText({ client, path, conflicts }: SyncedClient): string {
  const names = conflicts.map(({ name, why }) => `${name} (${why})`).join(', ');
  return `the file of ${client}, ${path}, has entries that would be overwritten: ${names}. Rename or remove them, or use force`;
}

async function guarded<T extends object>(act: () => Promise<T>): Promise<T | ClientRefusal> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof UnreadableText) return { refused: 'bad-file', detail: cause.message };
    if (cause instanceof ClientFileError) return { refused: 'failed', detail: cause.message };
    if ((cause as NodeJS.ErrnoException).code === 'ELOCKED')
      return { refused: 'failed', detail: `another program changes the file of the client: ${explainCause(cause)}` };
    throw cause;
  }
}
