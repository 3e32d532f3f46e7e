// Applications that are MCP clients: where their configuration files are, and how entries are written into them.

export { clientHomes } from './client-homes.ts';
export { parsePlain as parseToml } from './edit/toml-entries.ts';
export { endpointEntry } from './registration/client-record.ts';
export type { ClientRegistration, ClientStatus } from './registration/clients.ts';
export type { GlobalClients, RegistrationPlaces } from './registration/registrations.ts';
export type { SyncedClient } from './registration/sync-client.ts';
export { skillPlaces } from './skill-places.ts';
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
