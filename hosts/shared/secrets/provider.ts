import { UsageError } from '../usage-error.ts';
import { changeUserConfig, readUserConfig, userConfigPath } from '../user-config.ts';
import { PROVIDERS, type SecretsProvider } from './providers.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The provider, and who chose it. */
export interface ChosenProvider {
  readonly provider: SecretsProvider;
  readonly chosenBy: 'variable' | 'file' | 'default';
}

/** Variable that chooses the provider for one command. */
export const PROVIDER_VARIABLE = 'TOOLMGR_SECRETS_PROVIDER';

/**
 * Chooses the provider: {@link PROVIDER_VARIABLE}, then `secrets.provider_type` of the user's settings, then `environment`.
 * @throws UsageError for an unknown provider, or settings that cannot be read
 */
export async function chooseProvider(env: Environment = process.env): Promise<ChosenProvider> {
  const given = env[PROVIDER_VARIABLE];
  if (given) return { provider: providerFrom(given), chosenBy: 'variable' };
  const provider = (await readUserConfig(userConfigPath(env))).secrets?.provider_type;
  return provider === undefined ? { provider: 'environment', chosenBy: 'default' } : { provider, chosenBy: 'file' };
}

/** Makes a provider the one of this user. */
export async function writeProvider(provider: SecretsProvider, env: Environment = process.env): Promise<void> {
  const path = userConfigPath(env);
  if ((await readUserConfig(path)).secrets?.provider_type === provider) return;
  await changeUserConfig({ secrets: { provider_type: provider, setup_completed: true } }, path);
}

function providerFrom(given: string): SecretsProvider {
  const found = PROVIDERS.find((provider) => provider === given);
  if (found !== undefined) return found;
  throw new UsageError(`${PROVIDER_VARIABLE}: expected ${PROVIDERS.join(', ')}`);
}
