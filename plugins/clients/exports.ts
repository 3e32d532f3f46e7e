// Applications that are MCP clients: where their configuration files are. What parses a text or a value is loaded when it is used.

import type { z } from 'zod';
import type { parsePlain } from './edit/toml-entries.ts';
import type { endpointEntry } from './registration/client-record.ts';

export { clientHomes } from './client-homes.ts';
export type { ClientRegistration, ClientStatus } from './registration/clients.ts';
export type { GlobalClients, RegistrationPlaces } from './registration/registrations.ts';
export type { SyncedClient } from './registration/sync-client.ts';
export {
  configPath,
  installedClients,
  projectSkillFolder,
  supportsSkills,
  type UserPlace,
  userPlace,
  userSkillFolder,
} from './table/client-paths.ts';
export { CLIENT_TYPES, type ClientType, clientRow, isClientType } from './table/client-table.ts';

/** Parses a whole TOML file. The fault does not quote it. Only Codex has TOML, and the code takes memory. */
export async function parseToml(text: string): Promise<ReturnType<typeof parsePlain>> {
  return (await import('./edit/toml-entries.ts')).parsePlain(text);
}

/** Reads the entry of an endpoint, as the operations take it. */
export async function readEndpointEntry(given: unknown): Promise<z.ZodSafeParseResult<z.output<typeof endpointEntry>>> {
  return (await import('./registration/client-record.ts')).endpointEntry.safeParse(given);
}
