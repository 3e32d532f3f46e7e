// Registries of MCP servers: documents, their sources, and finding an entry. Hosts read them; no gateway does.

export { compareVersions, isVersion } from '../kit/workloads/schemes/versions.ts';
export { builtInRegistry } from './built-in/built-in.ts';
export { cacheDir } from './cache.ts';
export type { EnvVar, HeaderDef, ImageServer, Provenance, RemoteServer } from './entry-schemas.ts';
export { isEntryName, shownText } from './entry-text.ts';
export { findSkill, listSkills } from './listing.ts';
export { isNameOfEntry, type LookedUp, lookUpEntry, searchEntries, shortName } from './look-up.ts';
export type { MergedRegistry, Shadowed } from './merge-registries.ts';
export {
  BUILT_IN,
  DEFAULT_REGISTRY,
  readSourceSettings,
  registryNameFault,
  type SourceSettings,
  type SourceTried,
  settingsOf,
  sourceSettings,
  trySource,
} from './new-source.ts';
export { profileDemands } from './profile-demands.ts';
export { type RegistryRead, readRegistryDocument } from './read-document.ts';
export type { ServerRecord, SkillRecord } from './records/record-shapes.ts';
export {
  type ConfiguredRegistry,
  createRegistries,
  describeRegistries,
  type LoadedAll,
  type Registries,
  type RegistryAuth,
  type RegistryTokens,
} from './registries.ts';
export type { LeftOut, Registry, RegistryEntry } from './registry-data.ts';
export type { PendingSignIn, RegistryDeps, RegistrySettingsStore, RegistrySignIn } from './registry-deps.ts';
export { registryHomes } from './registry-homes.ts';
export { skillLookup } from './skill-lookup.ts';
export { NeedsSignIn, type SourceProblem } from './source-problem.ts';
export {
  describeSource,
  type LoadedRegistry,
  loadRegistry,
  loadRegistryFor,
  OFFICIAL_REGISTRY,
  type RegistrySource,
  sourceFromText,
} from './sources.ts';
