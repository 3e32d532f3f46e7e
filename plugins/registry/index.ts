// Registries of MCP servers: documents, their sources, and finding an entry. Hosts read them; no gateway does.

export { builtInRegistry } from './built-in/built-in.ts';
export { cacheDir } from './cache.ts';
export type { EnvVar, HeaderDef, ImageServer, Provenance, RemoteServer } from './entry-schemas.ts';
export { isEntryName, shownText } from './entry-text.ts';
export { type LookedUp, lookUpEntry, searchEntries, shortName } from './look-up.ts';
export { profileDemands } from './profile-demands.ts';
export { type RegistryRead, readRegistryDocument } from './read-document.ts';
export type { LeftOut, Registry, RegistryEntry } from './registry-data.ts';
export {
  describeSource,
  type LoadedRegistry,
  loadRegistry,
  loadRegistryFor,
  OFFICIAL_REGISTRY,
  type RegistrySource,
  sourceFromText,
} from './sources.ts';
