import type { RegistryDeps } from '@toolmgr/plugins/registry';
import { registryTokens } from './registry-logins.ts';
import { registrySettings } from './registry-settings.ts';
import { createRegistrySignIn } from './registry-sign-in.ts';
import { userRegistries } from './user-registry.ts';

/** The registries of the user, for the plugin. `signal` ends sign-ins. */
export function registryHome(signal: AbortSignal): RegistryDeps {
  return {
    registries: userRegistries(),
    tokens: registryTokens,
    settings: registrySettings,
    signIn: createRegistrySignIn(signal),
  };
}
