// Registries of MCP servers: documents, their sources, and finding an entry. Hosts read them; no gateway does.

export { compareVersions, isVersion } from '@toolmgr/plugins/kit/workloads/schemes';
export { cacheDir } from './cache.ts';
export type { EnvVar, ImageServer, RemoteServer } from './entry-schemas.ts';
export { isEntryName } from './entry-text.ts';
export { isNameOfEntry, type LookedUp, lookUpEntry } from './look-up.ts';
export {
  BUILT_IN,
  DEFAULT_REGISTRY,
  readSourceSettings,
  registryNameFault,
  type SourceSettings,
  settingsOf,
} from './new-source.ts';
export { profileDemands } from './profile-demands.ts';
export {
  type ConfiguredRegistry,
  createRegistries,
  describeRegistries,
  type LoadedAll,
  type Registries,
  type RegistryAuth,
  type RegistryTokens,
} from './registries.ts';
export type { RegistryEntry } from './registry-data.ts';
export type { PendingSignIn, RegistryDeps, RegistrySettingsStore, RegistrySignIn } from './registry-deps.ts';
export { registryHomes } from './registry-homes.ts';
export type { RegistrySummary } from './registry-summary.ts';
export { skillLookup } from './skill-lookup.ts';
export { NeedsSignIn } from './source-problem.ts';
export { describeSource, sourceFromText } from './sources.ts';
