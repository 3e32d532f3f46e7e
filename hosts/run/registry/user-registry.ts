import {
  cacheDir,
  describeSource,
  type LoadedRegistry,
  loadRegistry,
  loadRegistryFor,
  type RegistrySource,
} from '@toolmgr/plugins/registry';
import { readUserConfig, type UserConfig } from '../../shared/user-config.ts';

/** The registry that the settings of the user name. */
export interface UserRegistry {
  readonly source: RegistrySource;
  /** For messages: `the built-in registry`. */
  readonly title: string;
  readonly allowPrivateAddresses: boolean;
  load(options?: { readonly refresh?: boolean }): Promise<LoadedRegistry>;
  /** Loads at least what this name can mean. */
  loadFor(name: string): Promise<LoadedRegistry>;
}

/** Reads the settings. @throws UsageError when they are not valid */
export async function userRegistry(config?: UserConfig): Promise<UserRegistry> {
  const settings = config ?? (await readUserConfig());
  const source = sourceFrom(settings);
  const allowPrivateAddresses = settings.allow_private_registry_ip === true;
  const options = { allowPrivateAddresses, cacheDir: cacheDir() };
  return {
    source,
    title: describeSource(source),
    allowPrivateAddresses,
    load: ({ refresh = false } = {}) => loadRegistry(source, { ...options, refresh }),
    loadFor: (name) => loadRegistryFor(source, name, options),
  };
}

function sourceFrom({
  registry_api_url: api,
  registry_url: url,
  local_registry_path: path,
}: UserConfig): RegistrySource {
  if (api !== undefined) return { type: 'api', url: api };
  if (url !== undefined) return { type: 'url', url };
  return path === undefined ? { type: 'default' } : { type: 'file', path };
}
