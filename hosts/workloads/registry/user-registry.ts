import {
  type ConfiguredRegistry,
  cacheDir,
  createRegistries,
  describeRegistries,
  type LoadedAll,
  type Registries,
} from '@toolmgr/plugins/registry';
import { readUserConfig, type UserConfig } from '../../shared/user-config.ts';
import { configuredRegistries } from './configured-registries.ts';
import { registryTokens } from './registry-logins.ts';

/** The registries that the settings of the user name, as one. */
export interface UserRegistry {
  readonly sources: readonly ConfiguredRegistry[];
  /** For messages: `the built-in registry`. */
  readonly title: string;
  load(options?: { readonly refresh?: boolean }): Promise<LoadedAll>;
  /** Loads at least what this name can mean. */
  loadFor(name: string): Promise<LoadedAll>;
}

/** Reads the settings. @throws UsageError when they are not valid */
export async function userRegistry(config?: UserConfig): Promise<UserRegistry> {
  const sources = configuredRegistries(config ?? (await readUserConfig()));
  const registries = registriesOf(async () => sources);
  return {
    sources,
    title: describeRegistries(sources),
    load: (options) => registries.load(options),
    loadFor: (name) => registries.loadFor(name),
  };
}

/** For processes that run long: settings are read again for each use, and what was loaded is used for a while. */
export function userRegistries(): Registries {
  return registriesOf(async () => configuredRegistries(await readUserConfig()), REMEMBERS_MS);
}

const REMEMBERS_MS = 60_000;

function registriesOf(configured: () => Promise<readonly ConfiguredRegistry[]>, remembersMs = 0): Registries {
  return createRegistries({ configured, tokens: registryTokens, cacheDir: cacheDir(process.env), remembersMs });
}
