// Applications that are MCP clients: where their configuration files are, and how entries are written into them.

export {
  configPath,
  installedClients,
  isInstalled,
  projectSkillFolder,
  supportsSkills,
  type UserPlace,
  userPlace,
  userSkillFolder,
} from './table/client-paths.ts';
export type { ClientRow, EntryTransport, Platform } from './table/client-row.ts';
export { CLIENT_TYPES, type ClientType, clientRow, isClientType } from './table/client-table.ts';
